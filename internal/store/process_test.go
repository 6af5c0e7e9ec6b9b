package store

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-5777983b/duplex/internal/job"
)

// The test binary is also the processes the tests need: DUPLEX_STORE_TEST says
// which, as words.
const roleVariable = "DUPLEX_STORE_TEST"

func TestMain(m *testing.M) {
	role := strings.Fields(os.Getenv(roleVariable))
	if len(role) == 0 {
		os.Exit(m.Run())
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // as a hook ends: without Close
}

// play: "noop", "hook DIR JOB" appends one step, "append DIR JOB N" appends N
// entries and prints each id once it is acknowledged, "standing DIR JOB" reads.
func play(role []string) error {
	switch role[0] {
	case "noop":
		return nil
	case "hook":
		return appendOne(role[1], job.ID(role[2]), true, io.Discard)
	case "append":
		n, err := strconv.Atoi(role[3])
		if err != nil {
			return err
		}
		s, err := Open(context.Background(), role[1], Options{Busy: time.Minute})
		if err != nil {
			return err
		}
		for i := range n {
			if err := appendTo(s, job.ID(role[2]), i%8 == 0, os.Stdout); err != nil {
				return err
			}
		}
		return nil
	case "standing":
		s, err := Open(context.Background(), role[1], Options{Hook: true})
		if err != nil {
			return err
		}
		return s.Read(context.Background(), func(tx *Tx) error {
			_, err := tx.Standing(job.ID(role[2]))
			return err
		})
	}
	return fmt.Errorf("no role %q", role)
}

func appendOne(dir string, id job.ID, hook bool, out io.Writer) error {
	s, err := Open(context.Background(), dir, Options{Hook: hook})
	if err != nil {
		return err
	}
	return appendTo(s, id, false, out)
}

var output = strings.Repeat("FAIL src/a.test.ts > adds two numbers\n", 20)

// appendTo appends what a hook does: a step with 750 bytes of output.
func appendTo(s *Store, id job.ID, durable bool, out io.Writer) error {
	var random [16]byte
	rand.Read(random[:])
	entry := job.NewID(random)
	err := s.Write(context.Background(), durable, func(tx *Tx) error {
		now, err := tx.Standing(id)
		if err != nil {
			return err
		}
		exit := 1
		p := &job.Step{Class: job.ClassTest, Title: "pnpm test", Command: "pnpm test", Result: job.Failed, Exit: &exit, Action: now.Actions + 1,
			Receipt: job.Receipt{Text: output},
			Paths:   []job.Touch{{Name: "src/file" + strconv.FormatInt(now.Actions%50, 10) + ".ts", Role: job.RoleResult}}}
		sealed, err := funnel().JSON(p)
		if err != nil {
			return err
		}
		at := job.At(time.Now())
		_, err = tx.Append(job.Envelope{Job: id, ID: entry, Kind: p.Kind(), V: job.PayloadVersion, RecordedAt: at, HappenedAt: at,
			TimeSource: job.FromHook, Session: testID('s', 1), Author: job.Author{Kind: job.Command}, Key: string(entry)}, sealed)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, entry)
	return err
}

func process(ctx context.Context, role ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	c := exec.CommandContext(ctx, self)
	c.Env = append(os.Environ(), roleVariable+"="+strings.Join(role, " "))
	c.Stderr = os.Stderr
	return c
}

// startJob makes a store with one job of n steps.
func startJob(t testing.TB, n int) (*Store, job.ID) {
	t.Helper()
	s, a, id := openTest(t), &author{t: t}, testID('j', 1)
	write(t, s, func(tx *Tx) error {
		openJob(t, tx, a, id, job.Opened{Goal: "move the tests"})
		_, err := a.append(tx, id, testID('s', 1), &job.SessionStarted{Agent: "claude", Number: 1})
		return err
	})
	for left := n; left > 0; left -= 1000 {
		write(t, s, func(tx *Tx) error {
			for range min(left, 1000) {
				now, err := tx.Standing(id)
				if err != nil {
					return err
				}
				p := &job.Step{Class: job.ClassTest, Title: "pnpm test", Command: "pnpm test", Result: job.Failed, Action: now.Actions + 1,
					Receipt: job.Receipt{Text: output},
					Paths:   []job.Touch{{Name: "src/file" + strconv.FormatInt(now.Actions%500, 10) + ".ts", Role: job.RoleResult}}}
				env := a.envelope(id, testID('s', 1), p)
				env.Key = job.RecordKey("claude", "s", p.Kind(), string(env.ID))
				if _, err := tx.Append(env, sealed(t, p)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return s, id
}

// acknowledged holds that every id a process was told is in is in, that the
// positions have no hole, and that everything folded from them holds.
func acknowledged(t *testing.T, s *Store, id job.ID, acks []string) {
	t.Helper()
	have := map[string]bool{}
	read(t, s, func(tx *Tx) error {
		return tx.Entries(id, 1, 0, func(e job.Entry, _ Raw) error {
			have[string(e.ID)] = true
			return nil
		})
	})
	lost := 0
	for _, ack := range acks {
		if !have[ack] {
			lost++
		}
	}
	r, err := s.Verify(t.Context(), "")
	if lost > 0 || err != nil || !r.Holds() {
		t.Errorf("%d of %d acknowledged entries lost; verify: %+v, %v", lost, len(acks), r, err)
	}
}

func TestSixteenProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	s, id := startJob(t, 0)
	each := scale(12)
	var mu sync.Mutex
	var acks []string
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			out, err := process(t.Context(), "append", s.dir, string(id), strconv.Itoa(each)).Output()
			if err != nil {
				t.Errorf("a process: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			acks = append(acks, strings.Fields(string(out))...)
		})
	}
	wg.Wait()
	if len(acks) != 16*each {
		t.Errorf("%d appends were acknowledged, want %d", len(acks), 16*each)
	}
	acknowledged(t, s, id, acks)
}

// TestKilledProcesses: processes are killed at random moments while others append.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	s, id := startJob(t, 0)
	kills := scale(40)
	rng := mathrand.New(mathrand.NewSource(11))
	waits := make(chan time.Duration, kills)
	for range kills {
		waits <- time.Duration(rng.Intn(25_000)) * time.Microsecond
	}
	close(waits)
	var mu sync.Mutex
	var acks []string
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for wait := range waits {
				got, err := kill(t.Context(), s.dir, id, wait)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acks = append(acks, got...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(acks) < kills {
		t.Errorf("%d appends in %d killed processes: they did not get far enough to say anything", len(acks), kills)
	}
	acknowledged(t, s, id, acks)
	t.Logf("%d processes killed, %d appends acknowledged", kills, len(acks))
}

// kill starts a process that appends without end, kills it some time after its
// first acknowledgement, and gives what it was told is in.
func kill(ctx context.Context, dir string, id job.ID, after time.Duration) ([]string, error) {
	c := process(ctx, "append", dir, string(id), "1000000")
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		return nil, fmt.Errorf("a process acknowledged nothing: %w", c.Wait())
	}
	acks := []string{lines.Text()}
	timer := time.AfterFunc(after, func() { c.Process.Kill() })
	defer timer.Stop()
	for lines.Scan() {
		acks = append(acks, lines.Text())
	}
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) {
		return nil, fmt.Errorf("a process ended before it was killed: %v", err)
	}
	if last := acks[len(acks)-1]; len(last) < 26 { // killed while it printed
		acks = acks[:len(acks)-1]
	}
	return acks, nil
}

// BenchmarkHook: a process that opens, appends a step and ends, against one that
// does nothing, in turns.
func BenchmarkHook(b *testing.B) {
	for _, n := range []int{1000, scale(1000) * 10} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, id := startJob(b, n)
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			roles := map[string][]string{"noop": {"noop"}, "append": {"hook", s.dir, string(id)}, "standing": {"standing", s.dir, string(id)}}
			took, cpu := map[string][]time.Duration{}, map[string]time.Duration{}
			for b.Loop() {
				for name, role := range roles {
					c := process(b.Context(), role...)
					begin := time.Now()
					if err := c.Run(); err != nil {
						b.Fatal(err)
					}
					took[name] = append(took[name], time.Since(begin))
					cpu[name] += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
				}
			}
			b.ReportMetric(0, "ns/op")
			for name, list := range took {
				slices.Sort(list)
				b.ReportMetric(float64(list[len(list)/2].Microseconds()), name+"-median-µs")
				b.ReportMetric(float64(list[len(list)*99/100].Microseconds()), name+"-p99-µs")
				b.ReportMetric(float64(cpu[name].Microseconds())/float64(len(list)), name+"-cpu-µs")
			}
		})
	}
}

// BenchmarkBytesPerStep: what one step in a transaction of its own writes to the
// log, by length of the ledger.
func BenchmarkBytesPerStep(b *testing.B) {
	for _, n := range []int{1000, scale(1000) * 10} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, id := startJob(b, n)
			if err := s.Purge(b.Context()); err != nil {
				b.Fatal(err)
			}
			c, err := s.take()
			if err != nil {
				b.Fatal(err)
			}
			if err := c.script(b.Context(), "PRAGMA wal_autocheckpoint=0"); err != nil {
				b.Fatal(err)
			}
			s.put(c)
			steps := 0
			for b.Loop() {
				if err := appendTo(s, id, false, io.Discard); err != nil {
					b.Fatal(err)
				}
				steps++
			}
			info, err := os.Stat(filepath.Join(s.dir, databaseFile+"-wal"))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/float64(steps), "log-bytes/step")
			file, err := os.Stat(s.path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(file.Size())/float64(n), "file-bytes/entry")
		})
	}
}

// BenchmarkStanding: where a job stands, in a process that is running.
func BenchmarkStanding(b *testing.B) {
	for _, n := range []int{1000, scale(1000) * 10} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, id := startJob(b, n)
			for b.Loop() {
				if err := s.Read(b.Context(), func(tx *Tx) error {
					_, err := tx.Standing(id)
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAdopt: entries of a transcript, thousands in one transaction.
func BenchmarkAdopt(b *testing.B) {
	for b.Loop() {
		startJob(b, 5000)
	}
	b.ReportMetric(float64(b.N)*5000/b.Elapsed().Seconds(), "entries/s")
}
