package cli_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/seed-5777983b/duplex/internal/cli"
)

// listed are the commands there are, each with the flags that its promise names.
// What is not here is not there.
var listed = map[string][]string{
	"start": {"--check", "--protect", "--keep-tests", "--usd"}, "run": {"--agent", "--take"}, "take": {"--take"}, "adopt": {"--goal", "--last"},
	"amend": {"--accept-test"}, "answer": nil, "decide": {"--why", "--supersedes"}, "raise": {"--next"}, "settle": nil, "deadend": {"--why"},
	"pause": {"--why"}, "resume": {"--take", "--check"}, "handover": {"--next"}, "safepoint": nil, "safepoint create": {"--quiet"},
	"safepoint list": nil, "safepoint show": nil, "restore": {"--dry-run", "--force", "--undo"}, "check": {"--here"}, "finish": nil,
	"accept": {"--reason"}, "abandon": nil, "remove": {"--dry-run", "--yes"}, "jobs": {"--ready", "--all"}, "show": {"--brief"},
	"log": {"--decided"}, "recall": {"--all", "--job", "--kind", "--limit", "--since"}, "brief": {"--section"}, "cost": nil, "lessons": nil, "verify": {"--salvage"}, "config": nil, "on": nil, "off": nil,
	"setup": {"--user", "--project", "--local", "--plugin-dir", "--undo", "--dry-run"}, "doctor": nil, "uninstall": {"--data", "--dry-run"},
	"demo": nil, "hook": nil, "mcp": nil, "completion": nil, "version": {"--licenses"},
}

func TestEveryCommandHelps(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, flags := range listed {
		if code := d.run(append(strings.Fields(name), "--help")...); code != 0 {
			t.Errorf("duplex %s --help: exit %d\n%s", name, code, d.err)
		}
		if name != "safepoint" { // its commands have the examples
			if _, examples, ok := strings.Cut(d.out, "Example"); !ok || !strings.Contains(examples, "duplex "+strings.Fields(name)[0]) {
				t.Errorf("duplex %s --help gives no example:\n%s", name, d.out)
			}
		}
		for _, f := range flags {
			if !strings.Contains(d.out, f+" ") {
				t.Errorf("duplex %s --help does not name %s:\n%s", name, f, d.out)
			}
		}
	}
}

func TestHelpListsWhatIsThere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if code := d.run("--help"); code != 0 {
		t.Fatalf("exit %d\n%s", code, d.err)
	}
	_, commands, _ := strings.Cut(d.out, "Usage:")
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]+)  +[A-Z]`).FindAllStringSubmatch(commands, -1) {
		if _, ok := listed[m[1]]; !ok {
			t.Errorf("duplex --help lists %s, which nobody asked for", m[1])
		}
	}
	for name := range listed {
		if !strings.Contains(name, " ") && !regexp.MustCompile(`(?m)^  `+name+`  +[A-Z]`).MatchString(commands) {
			t.Errorf("duplex --help does not list %s:\n%s", name, commands)
		}
	}
	if strings.Contains(d.out, "Additional Commands") {
		t.Errorf("a heading stands over nothing:\n%s", d.out)
	}
}

func TestAWrongCallSaysTheRightOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for call, says := range map[string]string{
		"adopt a b":       "duplex adopt [SESSION|FILE] got 2 arguments; see duplex adopt --help",
		"start a b":       "duplex start GOAL got 2 arguments; see duplex start --help",
		"jobs x":          "duplex jobs got 1 argument; see duplex jobs --help",
		"strat":           `unknown command "strat" for "duplex"; see duplex --help`,
		"safepoint take":  `unknown command "take" for "duplex safepoint"; see duplex safepoint --help`,
		"show --nonsense": "unknown flag: --nonsense; see duplex show --help",
		"help strat":      `no command is called "strat"; duplex --help lists them`,
	} {
		if code := d.run(strings.Fields(call)...); code != cli.ExitUsage || d.err != "duplex: "+says+"\n" {
			t.Errorf("duplex %s: exit %d, %q; want %d, %q", call, code, d.err, cli.ExitUsage, says)
		}
	}
	if code := d.run("help", "safepoint", "create"); code != 0 || !strings.Contains(d.out, "duplex safepoint create [flags]") {
		t.Errorf("duplex help safepoint create: exit %d\n%s%s", code, d.out, d.err)
	}
}
