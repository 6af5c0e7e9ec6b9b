package claude

import (
	"strings"
	"testing"
)

func TestKeeps(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	for dir, want := range map[string]string{
		"":                         "/home/sam/.claude/projects/*/*.jsonl",
		"/home/sam/my shop_2.0":    "/home/sam/.claude/projects/-home-sam-my-shop-2-0*/*.jsonl",
		"/home/sam/café":           "/home/sam/.claude/projects/-home-sam-caf-*/*.jsonl",
		"/home/sam/😀":              "/home/sam/.claude/projects/-home-sam---*/*.jsonl",
		`C:\Users\sam\shop`:        "/home/sam/.claude/projects/C--Users-sam-shop*/*.jsonl",
		strings.Repeat("/abc", 99): "/home/sam/.claude/projects/" + strings.Repeat("-abc", 50) + "*/*.jsonl",
	} {
		if got := (Adapter{}).Keeps("/home/sam", dir, none); len(got) != 1 || got[0] != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
	moved := func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": "/etc/cc"}[name] }
	if got := (Adapter{}).Keeps("", "/w", moved); len(got) != 1 || got[0] != "/etc/cc/projects/-w*/*.jsonl" {
		t.Errorf("moved: %q", got)
	}
	if got := (Adapter{}).Keeps("", "/w", none); got != nil {
		t.Errorf("no home: %q", got)
	}
	for path, want := range map[string]string{
		"/p/4f2c-1.jsonl": "4f2c-1", `C:\p\4f2c.jsonl.gz`: "4f2c", "/p/agent-1.jsonl": "", "/p/notes.txt": "", "x.jsonl": "x",
	} {
		if got := (Adapter{}).SessionOf(path); got != want {
			t.Errorf("session of %s: %q, want %q", path, got, want)
		}
	}
}
