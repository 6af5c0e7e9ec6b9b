package job

import (
	"errors"
	"testing"
)

func TestFence(t *testing.T) {
	a, b := testID(1), testID(2)
	held := &Standing{Token: 4, Lease: &Lease{Session: b, Token: 4}}
	free := &Standing{Token: 4}
	done := &Standing{Token: 4, Outcome: &Verdict{Outcome: OutcomePassed}}
	failed := &Standing{Token: 4, Lease: held.Lease, Outcome: &Verdict{Outcome: OutcomeFailed}}
	agent, person, duplex := Author{Kind: Agent}, Author{Kind: Person}, Author{Kind: Duplex}
	for _, c := range []struct {
		name    string
		s       *Standing
		kind    Kind
		by      Author
		session ID
		token   int64
		late    bool
		err     error
	}{
		{"the holder acts", held, KindDecided, agent, b, 4, false, nil},
		{"a replaced session acts", held, KindDecided, agent, a, 3, false, ErrFenced},
		{"another session with the holder's token", held, KindSafePoint, agent, a, 4, false, ErrFenced},
		{"the holder with its older token", held, KindSafePoint, agent, b, 3, false, ErrFenced},
		{"a guest acts", held, KindDecided, agent, a, 0, false, ErrFenced},
		{"a token from the future", held, KindDecided, agent, b, 5, false, ErrFenced},
		{"after the lease was given back", free, KindDecided, agent, b, 4, false, ErrFenced},
		{"a replaced session observes", held, KindStep, agent, a, 3, true, nil},
		{"a guest observes", held, KindStep, agent, a, 0, false, nil},
		{"a person acts", held, KindDecided, person, "", 0, false, nil},
		{"Duplex keeps the book", held, KindPaused, duplex, "", 0, false, nil},
		{"Duplex for a replaced session", held, KindHandedOver, duplex, a, 3, false, ErrFenced},
		{"the holder of a finished job", done, KindDecided, agent, b, 4, false, ErrFinished},
		{"Duplex at a finished job", done, KindPaused, duplex, "", 0, false, ErrFinished},
		{"a person says where a finished job's folder is", done, KindAmended, person, "", 0, false, nil},
		{"a person keeps a finished job's folder", done, KindSafePoint, person, "", 0, false, nil},
		{"a person goes back in a finished job's folder", done, KindWentBack, person, "", 0, false, nil},
		{"a person decides at a finished job", done, KindDecided, person, "", 0, false, ErrFinished},
		{"a person raises an item at a finished job", done, KindRaised, person, "", 0, false, ErrFinished},
		{"a person pauses a finished job", done, KindPaused, person, "", 0, false, ErrFinished},
		{"a person finishes a finished job", done, KindFinished, person, "", 0, false, ErrFinished},
		{"a person decides after a failed finish", failed, KindDecided, person, "", 0, false, nil},
		{"a lesson of the session that finished it", done, KindLesson, agent, b, 4, false, nil},
		{"a lesson of Duplex", done, KindLesson, duplex, "", 0, false, nil},
		{"a lesson of a replaced session", done, KindLesson, agent, a, 3, false, ErrFenced},
		{"a step after the finish", done, KindStep, agent, b, 4, false, nil},
		{"a failed finish leaves the job open", failed, KindDecided, agent, b, 4, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			late, err := Fence(c.s, c.kind, c.by, c.session, c.token)
			if late != c.late || !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Errorf("late %v, error %v; want %v, %v", late, err, c.late, c.err)
			}
		})
	}
}
