package claude

import (
	"strings"

	"github.com/seed-5777983b/duplex/internal/agent"
)

// injected are the tags around text that Claude Code, its plugins or an editor
// put beside a person's words. A name ending in "-" or "_" stands for all that
// begin with it.
const injected = " system-reminder command- local-command- bash-input bash-stdout bash-stderr task-notification" +
	" ide_ user-prompt-submit-hook post-tool-use-hook user-memory-input ci-monitor-event new-diagnostics" +
	" teammate-message background-task- persisted-output tool_use_error total_tokens tools-used-before-summary "

// notWords begin texts that stand where a person's words stand and are none.
const notWords = "[Request interrupted\nCaveat: \nOperation stopped by hook\nThis session is being continued from a previous conversation\n" +
	"Base directory for this skill:\n[Tool call interrupted\nStop hook feedback:\n[SYSTEM NOTIFICATION\nNo response requested.\nPreToolUse:\nPostToolUse:"

// words are a person's own words in a text, empty when it has none.
func words(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "<task-notification>") {
		return "" // what stands behind the tag is Claude Code's too
	}
	if strings.HasPrefix(text, "<command-") {
		return commandWords(text)
	}
	text = strings.TrimSpace(untagged(text))
	if text == "" || agent.Ours(text) {
		return ""
	}
	for start := range strings.SplitSeq(notWords, "\n") {
		if strings.HasPrefix(text, start) {
			return ""
		}
	}
	if slashCommand(text) {
		return ""
	}
	return text
}

// housekeeping are the commands whose words are about the session, not about its work:
// what a summary is to hold, say.
const housekeeping = " compact rename resume export add-dir "

// commandWords are what a person asked for by a command. One that hands the agent a
// prompt of its own, a skill or a command of somebody's making, is a request, with or
// without more words; its message stands first. Of Claude Code's own, what stands
// behind the name is the person's word when it is a sentence or an address; a single
// word is a setting ("/model opus").
func commandWords(text string) string {
	args, name := strings.TrimSpace(untagged(inTag(text, "command-args"))), inTag(text, "command-name")
	request := strings.HasPrefix(text, "<command-message>") && strings.HasPrefix(name, "/")
	name = strings.TrimPrefix(name, "/")
	if agent.Ours(args) || strings.Contains(housekeeping, " "+name+" ") || !request && len(strings.Fields(args)) < 3 && !strings.Contains(args, "://") {
		return ""
	}
	return strings.TrimSpace("/" + name + " " + args)
}

// slashCommand reports whether a text is a command to Claude Code and nothing
// else: "/exit", "/gsd:progress". A path has more slashes.
func slashCommand(text string) bool {
	return len(text) > 1 && text[0] == '/' && !strings.ContainsAny(text[1:], "/ \t\n.")
}

// untagged drops the injected tags with what is in them.
func untagged(text string) string {
	if strings.IndexByte(text, '<') < 0 {
		return text
	}
	var b strings.Builder
	for {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			b.WriteString(text)
			return b.String()
		}
		name := tagName(text[open+1:])
		if !injectedTag(name) {
			b.WriteString(text[:open+1])
			text = text[open+1:]
			continue
		}
		b.WriteString(text[:open])
		b.WriteByte(' ')
		end := "</" + name + ">"
		_, rest, closed := strings.Cut(text[open:], end)
		if !closed {
			return b.String() // cut off: all of it is injected
		}
		text = rest
	}
}

func tagName(text string) string {
	for i := range len(text) {
		c := text[i]
		if c == '>' || c == ' ' || c == '\n' {
			return text[:i]
		}
		if !(c >= 'a' && c <= 'z' || c == '-' || c == '_') || i > 40 {
			return ""
		}
	}
	return ""
}

func injectedTag(name string) bool {
	if name == "" {
		return false
	}
	if strings.Contains(injected, " "+name+" ") {
		return true
	}
	i := strings.IndexAny(name, "-_")
	for i >= 0 {
		if strings.Contains(injected, " "+name[:i+1]+" ") {
			return true
		}
		next := strings.IndexAny(name[i+1:], "-_")
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return false
}

// inTag is the text inside the first tag of a name.
func inTag(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	inner, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(inner)
}
