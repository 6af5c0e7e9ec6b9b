package job

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The simulation lets sessions come to jobs, work, crash and be replaced at random,
// appends what they do as a store would, and holds every standing against the model
// after every operation. What it asks of the package goes through rules, so that a
// fault can be planted in any of them.

// rules are the functions under test.
type rules struct {
	bind      func(Arrival) Binding
	claim     func(*Standing, Asking, Time, Time, Liveness) (*LeaseTaken, error)
	held      func(*Lease, Time, Time, Liveness) bool
	fence     func(*Standing, Kind, Author, ID, int64) (bool, error)
	stale     func(*Standing, ID, int64) bool
	fold      func(*Memory, Entry) error // as entries are appended
	refold    func(*Memory, Entry) error // as a ledger is folded again
	recordKey func(agent, session string, event Kind, record string) string
	placeKey  func(agent, session, event, place string, ordinal int) string
	spentKey  func(agent, session, message string, t Tokens) string
}

func theRules() rules {
	return rules{
		bind: Bind, claim: Claim, held: (*Lease).Held, fence: Fence, stale: Stale,
		fold: (*Memory).Apply, refold: (*Memory).Apply, recordKey: RecordKey, placeKey: PlaceKey,
		spentKey: func(agent, _, message string, t Tokens) string { return SpentKey(agent, message, t) },
	}
}

// scale sizes the long tests: 1 in CI.
func scale(n int) int {
	if f, err := strconv.ParseFloat(os.Getenv("DUPLEX_SCALE"), 64); err == nil && f > 0 {
		return max(1, int(float64(n)*f))
	}
	return n
}

const simOperations = 150

func TestSimulation(t *testing.T) {
	var all tally
	const parts = 4
	t.Run("seeds", func(t *testing.T) {
		for part := range parts {
			t.Run(fmt.Sprint(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < scale(300); seed += parts {
					s := newSim(uint64(seed), theRules())
					if err := s.run(simOperations); err != nil {
						t.Fatal(err)
					}
					all.add(s)
				}
			})
		}
	})
	t.Logf("%d seeds, %d operations each, %d entries, largest snapshot %d bytes", scale(300), simOperations, all.entries, all.largest)
	t.Logf("met: %v", all.met)
	if scale(300) < 300 {
		return
	}
	// What never happened was not tested.
	for _, word := range strings.Fields(`job offer none ask open free renewed held taken gone expired finished fenced denied
		late guest routed shipped swept edge refolded reread`) {
		if all.met[word] == 0 {
			t.Errorf("%q never happened", word)
		}
	}
}

// tally sums what the seeds met.
type tally struct {
	sync.Mutex
	entries, largest int
	met              map[string]int
}

func (t *tally) add(s *sim) {
	t.Lock()
	defer t.Unlock()
	if t.met == nil {
		t.met = map[string]int{}
	}
	t.entries += s.entries
	t.largest = max(t.largest, s.largest)
	for word, n := range s.met {
		t.met[word] += n
	}
}

type sim struct {
	rules
	seed     uint64
	rng      *rand.Rand
	now      Time
	truth    *plainWorld
	jobs     []*simJob
	sessions []*simSession // session n is at n-1
	keys     map[string]bool
	spends   map[string]*Spend // one table for all jobs
	messages []*simMessage
	numbers  map[ID]int // of sessions and entries
	dirty    map[int]bool
	entries  int
	largest  int
	trace    []string
	met      map[string]int
}

type simJob struct {
	id      ID
	mem     *Memory
	ledger  []Entry
	renewed Time
	items   []simItem // entries that something may refer to
	target  int       // the one referred to last
	points  int
	holder  ID // the last one, and its token
	token   int64
}

type simSession struct {
	n             int
	id            ID
	agent, name   string
	host, folder  int
	job           int // -1: none
	token         int64
	guest, driven bool
	alive         bool
	past          []simToken
	log           []simRecord // its transcript
	read          int
}

type simItem struct {
	n    int
	kind Kind
}

type simToken struct {
	job   int
	token int64
}

// simRecord is a row of a transcript; hooks tell of the same.
type simRecord struct {
	event          string
	name           string // the provider's; empty: known by its place
	place, ordinal int
	class          Class
	result         Result
	path           string
	message        *simMessage
	use            plainUse
}

type simMessage struct {
	plainMessage
	model string
	last  plainUse
}

func newSim(seed uint64, r rules) *sim {
	return &sim{rules: r, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), truth: newPlainWorld(), keys: map[string]bool{},
		spends: map[string]*Spend{}, numbers: map[ID]int{}, dirty: map[int]bool{}, met: map[string]int{}, now: At(time.Date(2026, 11, 9, 9, 0, 0, 0, time.UTC))}
}

// found ends a run: the package and the model differ.
type found struct{ error }

func (s *sim) fail(format string, args ...any) {
	tail := s.trace[max(0, len(s.trace)-12):]
	panic(found{fmt.Errorf("seed %d, operation %d: %s\n  %s", s.seed, len(s.trace), fmt.Sprintf(format, args...), strings.Join(tail, "\n  "))})
}

func (s *sim) say(format string, args ...any) {
	s.trace[len(s.trace)-1] += fmt.Sprintf(" "+format, args...)
}

func (s *sim) one(n int) bool              { return s.rng.IntN(n) == 0 }
func (s *sim) pick(words ...string) string { return words[s.rng.IntN(len(words))] }

// run does n operations; the error says where package and model differ.
func (s *sim) run(n int) (err error) {
	defer func() {
		if f, ok := recover().(found); ok {
			err = f.error
		}
	}()
	s.trace = append(s.trace, "two jobs, two sessions")
	s.openJob(0, false)
	s.openJob(1, false)
	s.arrive()
	s.arrive()
	operations := s.operations()
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	for range n {
		at := s.rng.IntN(total)
		for _, o := range operations {
			if at -= o.weight; at < 0 {
				s.trace = append(s.trace, o.name)
				o.do()
				break
			}
		}
		s.look()
	}
	s.trace = append(s.trace, "fold all again")
	for j := range s.jobs {
		s.foldAgain(j)
	}
	return nil
}

// append writes an entry as a store does: the next position, the fold, the rows.
func (s *sim) append(j int, env Envelope, p Payload, e plainEntry) int {
	job := s.jobs[j]
	s.entries++
	n := s.entries
	env.Job, env.Position, env.ID, env.Kind, env.V = job.id, job.mem.Now.Position+1, testID(1000+n), p.Kind(), PayloadVersion
	env.RecordedAt, env.HappenedAt, env.TimeSource = s.now, s.now, FromClock
	if env.Key != "" {
		s.keys[env.Key] = true
		env.HappenedAt, env.TimeSource = s.now.Add(-time.Duration(s.rng.IntN(1e9))), FromTranscript
	}
	s.numbers[env.ID] = n
	entry := Entry{env, p}
	if err := entry.Validate(); err != nil {
		s.fail("%v", err)
	}
	job.ledger = append(job.ledger, entry)
	if err := s.fold(job.mem, entry); err != nil {
		s.fail("%v", err)
	}
	e.n, e.at, e.late, e.guest = n, int64(s.now), env.Late, env.Guest
	if e.kind == "" {
		e.kind = string(p.Kind())
	}
	s.truth.write(j, e)
	switch p.(type) {
	case *Decided, *Raised, *DeadEnd, *Asked, *Instructed, *Step:
		job.items = append(job.items, simItem{n, p.Kind()})
	}
	s.dirty[j] = true
	if env.Late {
		s.met["late"]++
	}
	if env.Guest {
		s.met["guest"]++
	}
	s.say("→ job %d #%d %s%s", j, n, e.kind, map[bool]string{true: " (late)"}[env.Late])
	return n
}

func (s *sim) openJob(folder int, unnamed bool) int {
	j := len(s.jobs)
	mem := NewMemory()
	mem.Spends = s.spends
	s.jobs = append(s.jobs, &simJob{id: testID(j + 1), mem: mem})
	s.truth.open(folder, unnamed)
	s.append(j, Envelope{Author: Author{Kind: Person}}, &Opened{Short: fmt.Sprint("job", j), Goal: "move the tests", Unnamed: unnamed,
		Checks: []Check{{ID: "c1", Command: "go test ./..."}}, Workspace: s.workspace(folder)}, plainEntry{})
	return j
}

func (s *sim) workspace(folder int) Workspace {
	return Workspace{ID: testID(50 + folder), Path: fmt.Sprint("/work/", folder)}
}

// life is what an asker on a host can tell of the holder's process.
func (s *sim) life(j, host int) Liveness {
	l := s.jobs[j].mem.Now.Lease
	if l == nil {
		return LivenessUnknown
	}
	holder := s.sessions[s.numbers[l.Session]-1]
	switch {
	case holder.host != host:
		return LivenessUnknown
	case holder.alive:
		return Live
	}
	return Gone
}

// claim asks for the lease; how says what came of it.
func (s *sim) claimFor(x *simSession, take bool) (l *LeaseTaken, how string) {
	job, life := s.jobs[x.job], s.life(x.job, x.host)
	l, err := s.claim(&job.mem.Now, Asking{Session: x.id, Driven: x.driven, Take: take, Process: Process{Host: fmt.Sprint(x.host), PID: x.n}}, s.now, job.renewed, life)
	how = reason(err)
	token := int64(0)
	if err == nil {
		how, token = l.How, l.Token
	}
	wantHow, wantToken := s.truth.jobs[x.job].claim(x.n, take, int64(s.now), string(life))
	if how != wantHow || token != wantToken {
		s.fail("session %d claims job %d (its holder is %s): %s under token %d, want %s under %d", x.n, x.job, life, how, token, wantHow, wantToken)
	}
	s.met[how]++
	s.say("session %d claims job %d: %s", x.n, x.job, how)
	return l, how
}

// reason names a refusal in the model's words.
func reason(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, ErrHeld):
		return "held"
	case errors.Is(err, ErrFinished):
		return "finished"
	case errors.Is(err, ErrFenced):
		return "fenced"
	}
	return err.Error()
}

func (s *sim) give(x *simSession, l *LeaseTaken) {
	if l == nil {
		return
	}
	if l.How != "renewed" {
		s.jobs[x.job].renewed = 0
	}
	s.append(x.job, Envelope{Session: x.id, Author: x.author()}, l, plainEntry{session: x.n, token: l.Token, driven: x.driven})
	x.token, x.guest = l.Token, false
	x.past = append(x.past, simToken{x.job, l.Token})
}

func (x *simSession) author() Author { return Author{Kind: Agent, Name: x.agent} }

// observe appends what happened in a session, late when it was replaced.
func (s *sim) observe(x *simSession, p Payload, e plainEntry, key string) int {
	late, err := s.fence(&s.jobs[x.job].mem.Now, p.Kind(), x.author(), x.id, x.token)
	want := x.token > 0 && x.token < s.truth.jobs[x.job].token
	if err != nil || late != want {
		s.fail("session %d observes %s at job %d: late %v, %v; want late %v", x.n, p.Kind(), x.job, late, err, want)
	}
	e.session = x.n
	return s.append(x.job, Envelope{Session: x.id, Author: x.author(), Token: x.token, Late: late, Guest: x.guest, Key: key}, p, e)
}

// act does an act under a token, or records that it was refused.
func (s *sim) act(x *simSession, by Author, token int64, p Payload, e plainEntry) {
	_, err := s.fence(&s.jobs[x.job].mem.Now, p.Kind(), by, x.id, token)
	got, want := reason(err), s.truth.jobs[x.job].act(string(p.Kind()), string(by.Kind), x.n, token)
	if got != want {
		s.fail("session %d acts (%s) at job %d under token %d: %q, want %q", x.n, p.Kind(), x.job, token, got, want)
	}
	if err != nil {
		s.met[got]++
		s.observe(x, &Refused{Act: p.Kind(), Token: token, Current: s.jobs[x.job].mem.Now.Token}, plainEntry{}, "")
		return
	}
	e.session = x.n
	s.append(x.job, Envelope{Session: x.id, Author: by, Token: token}, p, e)
}

// book is an act without a session: a person's, or Duplex's own.
func (s *sim) book(j int, by AuthorKind, p Payload, e plainEntry) {
	_, err := s.fence(&s.jobs[j].mem.Now, p.Kind(), Author{Kind: by}, "", 0)
	if got, want := reason(err), s.truth.jobs[j].act(string(p.Kind()), string(by), 0, 0); got != want {
		s.fail("%s (%s) at job %d: %q, want %q", p.Kind(), by, j, got, want)
	}
	if err == nil {
		s.append(j, Envelope{Author: Author{Kind: by}}, p, e)
	}
}
