package job

import (
	"reflect"
	"testing"
)

func TestDirectives(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Fix the build. Never touch the legacy folder again.", []string{"Never touch the legacy folder again."}},
		{"Should we never do that here?", nil},
		{"I don't think that this is right.", nil},
		{"- never list items\nFrom now on use tabs in all files", []string{"From now on use tabs in all files"}},
		{"never mind", nil},
	} {
		if got := Directives(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("Directives(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}
