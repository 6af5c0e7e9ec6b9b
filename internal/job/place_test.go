package job

import "testing"

// TestPlaceUnderALimit: a session that its provider refuses is not at work, however
// much it lives.
func TestPlaceUnderALimit(t *testing.T) {
	t.Parallel()
	const now = Time(1000)
	for _, c := range []struct {
		name    string
		pause   *Pause
		working bool
		want    Place
	}{
		{"no limit", nil, true, PlaceRunning},
		{"a limit that lasts", &Pause{Reason: PauseRate, Until: now + 1}, true, PlaceWaiting},
		{"a limit that lasts, nobody there", &Pause{Reason: PauseRate, Until: now + 1}, false, PlaceWaiting},
		{"a limit that is over", &Pause{Reason: PauseRate, Until: now}, true, PlaceRunning},
		{"a limit that is over, nobody there", &Pause{Reason: PauseRate, Until: now}, false, PlaceReady},
		{"a limit without a time", &Pause{Reason: PauseRate}, true, PlaceWaiting},
		{"a limit without a time, nobody there to try again", &Pause{Reason: PauseRate}, false, PlaceReady},
		{"no credit", &Pause{Reason: PauseHand}, true, PlaceRunning},
	} {
		s := Standing{Pause: c.pause}
		if got := s.Place(now, c.working); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}
