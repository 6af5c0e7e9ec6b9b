package agent

import "testing"

func TestLearn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ level, compacted, largest, want int64 }{
		{167_000, 0, 9_000, 167_000},       // nothing seen
		{167_000, 168_000, 9_000, 167_000}, // as the table has it
		{967_000, 168_000, 9_000, 168_000}, // the account has less
		{167_000, 484_000, 9_000, 475_000}, // it has more
		{0, 213_000, 9_000, 213_000},       // nobody knew
		{200_000, 205_000, 0, 205_000},     // no step is known
	} {
		l := Levels{Window: 1_000_000, Level: c.level}.Learn(c.compacted, c.largest)
		if l.Level != c.want || l.Window != 1_000_000 {
			t.Errorf("level %d, compacted at %d, largest step %d: got %+v, want %d", c.level, c.compacted, c.largest, l, c.want)
		}
	}
}
