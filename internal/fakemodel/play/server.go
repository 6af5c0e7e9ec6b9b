package play

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server plays a script on a port of this machine, and remembers what it was asked.
type Server struct {
	log    string
	listen net.Listener
	http   *http.Server
	closed chan struct{}

	mu       sync.Mutex
	script   Script
	matches  []*regexp.Regexp // of its rules
	spent    []bool           // rules that were for once
	next     int              // of its turns
	requests []Request
	more     chan struct{} // closed when there is one more
	faults   []error       // of the log
}

// Serve begins to play on 127.0.0.1; port 0 takes a free one. Each request is
// written to a file of the folder log, unless that is "".
func Serve(port int, s Script, log string) (*Server, error) {
	m := &Server{log: log, closed: make(chan struct{}), more: make(chan struct{})}
	if err := m.Load(s); err != nil {
		return nil, err
	}
	if log != "" {
		if err := os.MkdirAll(log, 0o700); err != nil {
			return nil, fmt.Errorf("make the folder of the log: %w", err)
		}
	}
	listen, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	m.listen = listen
	m.http = &http.Server{Handler: http.HandlerFunc(m.answer), ReadHeaderTimeout: time.Minute}
	go func() { _ = m.http.Serve(listen) }() // ends when it is closed
	return m, nil
}

// URL is where the server is, as agents want it: no slash at its end.
func (m *Server) URL() string { return "http://" + m.listen.Addr().String() }

// Close ends the server, answers that hang too. It returns what went wrong with the log.
func (m *Server) Close() error {
	close(m.closed)
	err := m.http.Close()
	m.mu.Lock()
	defer m.mu.Unlock()
	return errors.Join(append(m.faults, err)...)
}

// Load begins another script; what was asked so far stays known.
func (m *Server) Load(s Script) error {
	matches, err := s.compile()
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.script, m.matches, m.spent, m.next = s, matches, make([]bool, len(s.Rules)), 0
	return nil
}

// Requests are all requests so far, in the order of their arrival.
func (m *Server) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

const (
	messages = "/v1/messages"
	counting = messages + "/count_tokens"
	models   = "/v1/models"
)

func (m *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		sendJSON(w, http.StatusBadRequest, plainError("invalid_request_error", err.Error()))
		return
	}
	req := Request{At: time.Now(), Method: r.Method, Path: r.URL.Path, Headers: headers(r.Header)}
	if json.Valid(body) {
		req.Body = body
	} else if len(body) > 0 {
		req.Body, _ = json.Marshal(string(body))
	}
	switch {
	case strings.HasPrefix(r.URL.Path, "/__"):
		m.control(w, r, body)
	case r.Method == http.MethodHead:
		m.keep(req, "head")
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, models):
		m.keep(req, "models")
		sendJSON(w, http.StatusOK, object{"data": m.models(), "has_more": false})
	case r.Method == http.MethodPost && r.URL.Path == counting:
		_ = json.Unmarshal(body, &req.Ask) // what cannot be read is not there
		m.keep(req, "count of tokens")
		sendJSON(w, http.StatusOK, object{"input_tokens": m.count(body)})
	case r.Method == http.MethodPost && r.URL.Path == messages:
		_ = json.Unmarshal(body, &req.Ask)
		turn, req := m.pick(req, body)
		m.play(w, r, turn.made(req), req)
	default:
		m.keep(req, "nothing: no such path")
		sendJSON(w, http.StatusNotFound, plainError("not_found_error", "the scripted model has no "+r.Method+" "+r.URL.Path))
	}
}

// pick chooses the turn and keeps the request with it, in one: two requests at the
// same time play different turns, in the order in which they are kept.
func (m *Server) pick(req Request, body []byte) (Turn, Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, rule := range m.script.Rules {
		if m.spent[i] || !m.matches[i].Match(body) || rule.When != nil && !rule.When(req) {
			continue
		}
		m.spent[i] = rule.Once
		return rule.Turn, m.keepLocked(req, "rule "+strconv.Itoa(i+1))
	}
	if m.next < len(m.script.Turns) {
		m.next++
		return m.script.Turns[m.next-1], m.keepLocked(req, "turn "+strconv.Itoa(m.next))
	}
	if m.script.Default != nil {
		return *m.script.Default, m.keepLocked(req, "default")
	}
	return Turn{Text: "done"}, m.keepLocked(req, "default")
}

// play sends the answer of a turn.
func (m *Server) play(w http.ResponseWriter, r *http.Request, t Turn, req Request) {
	if t.Delay > 0 && !m.wait(r, time.After(time.Duration(t.Delay*float64(time.Second)))) {
		return
	}
	for name, value := range t.Headers {
		w.Header().Set(name, value)
	}
	if t.Status != 0 {
		var body any = plainError("api_error", "scripted error")
		if len(t.Body) > 0 {
			body = t.Body
		}
		sendJSON(w, t.Status, body)
		return
	}
	message, events := anthropic(t, req.Ask.Model)
	if !req.Ask.Stream {
		if m.broken(r, t) {
			return
		}
		sendJSON(w, http.StatusOK, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Request-Id", newID("req_"))
	// The last two events say how the turn ended: what breaks off does not say it.
	whole := events[:len(events)-2]
	for _, e := range whole {
		sendEvent(w, e)
	}
	if m.broken(r, t) {
		return
	}
	if len(t.SSEError) > 0 {
		sendEvent(w, sse{"error", t.SSEError})
		return
	}
	for _, e := range events[len(whole):] {
		sendEvent(w, e)
	}
}

// broken keeps an answer from its end, if the turn wants that: it hangs until
// somebody gives up, or cuts the connection.
func (m *Server) broken(r *http.Request, t Turn) bool {
	if t.Hang {
		m.wait(r, nil)
	}
	if t.Hang || t.Cut {
		panic(http.ErrAbortHandler) // closes the connection without the end of the body
	}
	return false
}

// wait waits for a time; false when the agent or the server went away first.
func (m *Server) wait(r *http.Request, until <-chan time.Time) bool {
	select {
	case <-until:
		return true
	case <-r.Context().Done():
		return false
	case <-m.closed:
		return false
	}
}

// control loads a script, or says how far it is, for drivers in other languages.
func (m *Server) control(w http.ResponseWriter, r *http.Request, body []byte) {
	switch r.URL.Path {
	case "/__script":
		s, err := Parse(body)
		if err == nil {
			err = m.Load(s)
		}
		if err != nil {
			sendJSON(w, http.StatusBadRequest, plainError("invalid_request_error", err.Error()))
			return
		}
		sendJSON(w, http.StatusOK, object{"ok": true})
	case "/__state":
		m.mu.Lock()
		state := object{"turns": m.next, "requests": len(m.requests)}
		m.mu.Unlock()
		sendJSON(w, http.StatusOK, state)
	default:
		sendJSON(w, http.StatusNotFound, plainError("not_found_error", "the controls are /__script and /__state"))
	}
}

func (m *Server) keep(req Request, played string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepLocked(req, played)
}

func (m *Server) keepLocked(req Request, played string) Request {
	req.N, req.Played = len(m.requests)+1, played
	m.requests = append(m.requests, req)
	if m.log != "" {
		b, err := json.MarshalIndent(req, "", " ")
		if err == nil {
			err = os.WriteFile(filepath.Join(m.log, fmt.Sprintf("%04d.json", req.N)), b, 0o600)
		}
		if err != nil {
			m.faults = append(m.faults, fmt.Errorf("log request %d: %w", req.N, err))
		}
	}
	close(m.more)
	m.more = make(chan struct{})
	return req
}

func (m *Server) models() []json.RawMessage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]json.RawMessage{}, m.script.Models...)
}

func (m *Server) count(body []byte) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.script.CountTokens > 0 {
		return m.script.CountTokens
	}
	return max(1, len(body)/4)
}

func readBody(r *http.Request) ([]byte, error) {
	in := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, fmt.Errorf("read a zipped body: %w", err)
		}
		in = unzipped
	}
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read the body: %w", err)
	}
	return b, nil
}

// The agent may be gone while it is answered: then nobody is there to be told.

func sendJSON(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		b, status = []byte(strconv.Quote(err.Error())), http.StatusInternalServerError
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func sendEvent(w http.ResponseWriter, e sse) {
	b, err := json.Marshal(e.Data)
	if err != nil {
		panic(err) // made of strings and numbers, but for what the script gives, which is checked
	}
	_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Name, b)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
