package job

import "testing"

// fault is a mistake somebody could make in the rules. The simulation is worth
// what it finds, so each is planted and has to be found.
type fault struct {
	name  string
	plant func(*rules)
}

// asking wraps the claim.
func asking(f func(r rules, s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error)) func(*rules) {
	return func(r *rules) {
		real := *r
		r.claim = func(s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
			return f(real, s, a, now, renewed, alive)
		}
	}
}

// given is a claim that goes wrong in what it gives.
func given(f func(l *LeaseTaken, s *Standing)) func(*rules) {
	return asking(func(r rules, s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
		l, err := r.claim(s, a, now, renewed, alive)
		if l != nil {
			f(l, s)
		}
		return l, err
	})
}

// folding an entry otherwise, both as it is appended and when it is folded again.
func folded(f func(m *Memory, e Entry, apply func(Entry) error) error) func(*rules) {
	return func(r *rules) {
		r.fold = func(m *Memory, e Entry) error { return f(m, e, m.Apply) }
		r.refold = r.fold
	}
}

// afterwards is a fold that goes wrong in what it leaves.
func afterwards(f func(m *Memory, e Entry, before Standing)) func(*rules) {
	return folded(func(m *Memory, e Entry, apply func(Entry) error) error {
		before := m.Now
		err := apply(e)
		f(m, e, before)
		return err
	})
}

func faults() []fault {
	return []fault{
		// The lease.
		{"a lease is free a microsecond early", asking(func(r rules, s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
			return r.claim(s, a, now+1, renewed, alive)
		})},
		{"a beat does not count", asking(func(r rules, s *Standing, a Asking, now, _ Time, alive Liveness) (*LeaseTaken, error) {
			return r.claim(s, a, now, 0, alive)
		})},
		{"an expired lease passes on its token", given(func(l *LeaseTaken, s *Standing) {
			if l.How == "expired" {
				l.Token = s.Token
			}
		})},
		{"a lease that was given back passes on its token", given(func(l *LeaseTaken, s *Standing) {
			if l.How == "free" && s.Token > 0 {
				l.Token = s.Token
			}
		})},
		{"a holder that renews gets a new token", given(func(l *LeaseTaken, s *Standing) {
			if l.How == "renewed" {
				l.Token = s.Token + 1
			}
		})},
		{"a process that is gone keeps the lease", asking(func(r rules, s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
			if alive == Gone {
				alive = Live
			}
			return r.claim(s, a, now, renewed, alive)
		})},
		{"a process that lives loses the lease by being silent", asking(func(r rules, s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
			return r.claim(s, a, now, renewed, map[Liveness]Liveness{Live: LivenessUnknown, Gone: Gone, LivenessUnknown: LivenessUnknown}[alive])
		})},
		{"anyone takes from a live session", asking(func(r rules, s *Standing, a Asking, now, renewed Time, alive Liveness) (*LeaseTaken, error) {
			a.Take = true
			return r.claim(s, a, now, renewed, alive)
		})},
		{"an old token may take safe points", func(r *rules) {
			r.fence = func(s *Standing, k Kind, by Author, session ID, token int64) (bool, error) {
				if k == KindSafePoint && token > 0 && token < s.Token && !s.Done() {
					return false, nil
				}
				return Fence(s, k, by, session, token)
			}
		}},
		{"the token is enough, whoever brings it", func(r *rules) {
			r.fence = func(s *Standing, k Kind, by Author, session ID, token int64) (bool, error) {
				if s.Lease != nil && token == s.Token {
					session = s.Lease.Session
				}
				return Fence(s, k, by, session, token)
			}
		}},
		{"an observation with an old token is not marked", func(r *rules) {
			r.fence = func(s *Standing, k Kind, by Author, session ID, token int64) (bool, error) {
				_, err := Fence(s, k, by, session, token)
				return false, err
			}
		}},
		{"a replaced session is let in once its successor left", func(r *rules) {
			r.stale = func(s *Standing, session ID, token int64) bool { return s.Lease != nil && Stale(s, session, token) }
		}},
		{"a guest is denied", func(r *rules) {
			r.stale = func(s *Standing, session ID, token int64) bool {
				return Stale(s, session, token) || token == 0 && s.Lease != nil && s.Lease.Session != session
			}
		}},

		// The fold.
		{"a late step counts as work", folded(func(m *Memory, e Entry, apply func(Entry) error) error {
			if e.Kind == KindStep {
				e.Late = false
			}
			return apply(e)
		})},
		{"a superseded decision stays in force", afterwards(func(m *Memory, e Entry, before Standing) {
			if p, ok := e.Payload.(*Decided); ok && p.Supersedes != "" {
				m.Now.InForce = before.InForce + 1
			}
		})},
		{"an item settled twice counts twice", folded(func(m *Memory, e Entry, apply func(Entry) error) error {
			if p, ok := e.Payload.(*Settled); ok && m.Items[p.Item] != nil && m.Items[p.Item].Kind == KindRaised {
				again := *m.Items[p.Item]
				again.State = Open
				m.Items[p.Item] = &again
			}
			return apply(e)
		})},
		{"any answer closes the question twice", afterwards(func(m *Memory, e Entry, before Standing) {
			if p, ok := e.Payload.(*Answered); ok && m.Items[p.Question] != nil && m.Items[p.Question].Kind == KindAsked {
				m.Now.Questions = before.Questions - 1
			}
		})},
		{"the first row of a message wins", folded(func(m *Memory, e Entry, apply func(Entry) error) error {
			if _, ok := e.Payload.(*Spent); !ok || m.Spends[SpendKey(e.Key)] == nil {
				return apply(e)
			}
			e.Payload = &Seen{}
			return apply(e)
		})},
		{"the last row to arrive wins", folded(func(m *Memory, e Entry, apply func(Entry) error) error {
			p, ok := e.Payload.(*Spent)
			old := m.Spends[SpendKey(e.Key)]
			if !ok || old == nil || old.Job != e.Job || p.follows(&old.Spent) {
				return apply(e)
			}
			q := *p // the row itself, made to look like the largest
			q.Tokens.Output += old.Tokens.Total()
			e.Payload = &q
			return apply(e)
		})},
		{"a message is billed in every job that has a copy", folded(func(m *Memory, e Entry, apply func(Entry) error) error {
			key := SpendKey(e.Key)
			old := m.Spends[key]
			if _, ok := e.Payload.(*Spent); !ok || old == nil || old.Job == e.Job {
				return apply(e)
			}
			delete(m.Spends, key)
			err := apply(e)
			m.Spends[key] = old
			return err
		})},
		{"a guest's messages cost nothing", folded(func(m *Memory, e Entry, apply func(Entry) error) error {
			if e.Kind == KindSpent && e.Guest {
				e.Payload = &Seen{}
			}
			return apply(e)
		})},
		{"a session that sits down again begins at nothing", afterwards(func(m *Memory, e Entry, _ Standing) {
			if e.Kind == KindSessionStarted {
				row := *m.Sittings[e.Session]
				row.Spent, row.Pico = Tokens{}, 0
				m.Sittings[e.Session] = &row
			}
		})},
		{"a finish that failed ends the job", afterwards(func(m *Memory, e Entry, _ Standing) {
			if e.Kind == KindFinished {
				m.Now.Lease = nil
			}
		})},
		{"a new session ends the wait for an answer", afterwards(func(m *Memory, e Entry, _ Standing) {
			if e.Kind == KindLeaseTaken {
				m.Now.Pause = nil
			}
		})},
		{"the clock that went back takes the standing along", afterwards(func(m *Memory, e Entry, _ Standing) {
			m.Now.Updated = e.RecordedAt
		})},
		{"an unknown kind counts as a step", afterwards(func(m *Memory, e Entry, _ Standing) {
			if unknown(e) {
				m.Now.Steps++
			}
		})},
		{"folding again loses a row", func(r *rules) {
			r.refold = func(m *Memory, e Entry) error {
				err := m.Apply(e)
				if p, ok := e.Payload.(*Decided); ok && p.Supersedes != "" {
					delete(m.Items, e.ID)
				}
				return err
			}
		}},
		{"folding again gives a foreign message to this job", func(r *rules) {
			r.refold = func(m *Memory, e Entry) error {
				if old := m.Spends[SpendKey(e.Key)]; old != nil && old.Job != e.Job {
					delete(m.Spends, old.Key)
				}
				return m.Apply(e)
			}
		}},

		// Keys.
		{"the key of a usage row has the session in it", func(r *rules) {
			r.spentKey = func(agent, session, message string, t Tokens) string { return SpentKey(agent+session, message, t) }
		}},
		{"the key of a usage row lacks the agent", func(r *rules) {
			r.spentKey = func(_, _, message string, t Tokens) string { return SpentKey("", message, t) }
		}},
		{"the key of a usage row lacks the usage", func(r *rules) {
			r.spentKey = func(agent, _, message string, _ Tokens) string { return SpentKey(agent, message, Tokens{}) }
		}},
		{"the key of a record lacks the kind", func(r *rules) {
			r.recordKey = func(agent, session string, _ Kind, record string) string {
				return RecordKey(agent, session, "", record)
			}
		}},
		{"the key of a record lacks the session", func(r *rules) {
			r.recordKey = func(agent, _ string, event Kind, record string) string { return RecordKey(agent, "", event, record) }
		}},
		{"the key of a place lacks the ordinal", func(r *rules) {
			r.placeKey = func(agent, session, event, place string, _ int) string {
				return PlaceKey(agent, session, event, place, 0)
			}
		}},

		// Binding.
		{"the first of two open jobs is bound", func(r *rules) {
			r.bind = func(a Arrival) Binding {
				a.Open = a.Open[:min(1, len(a.Open))]
				return Bind(a)
			}
		}},
		{"an earlier binding comes before DUPLEX_JOB", func(r *rules) {
			r.bind = func(a Arrival) Binding {
				if a.Bound != nil {
					a.Named = ""
				}
				return Bind(a)
			}
		}},
	}
}

// TestPlantedFaults: each is found within 1,000 seeds. How many seeds find it is
// counted over 10 times DUPLEX_SCALE.
func TestPlantedFaults(t *testing.T) {
	const limit = 1000
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			r := theRules()
			f.plant(&r)
			count, first, seeds := 0, 0, 0
			var what error
			for seeds < min(scale(10), limit) || first == 0 && seeds < limit {
				err := newSim(uint64(seeds), r).run(simOperations)
				seeds++
				if err != nil {
					count++
				}
				if err != nil && first == 0 {
					first, what = seeds, err
				}
			}
			if first == 0 {
				t.Fatalf("not found in %d seeds", limit)
			}
			t.Logf("found by seed number %d, by %d of %d seeds: %v", first, count, seeds, what)
		})
	}
}
