// Package script is the agent that is built in: its adapter, and its model. It
// stands in for the real command line agents in the demo, in stories and in
// tests, and it speaks through the same hooks, transcript and headless output,
// so that everything above an agent is run for real. The program around it,
// which runs tools, writes the transcript and calls hooks, is package scripted.
//
// It is no language model. A script says what the model is able to do; what it
// knows is its context and nothing else: the prompt, what hooks added, the
// results of its calls. Next is a pure function of the two. When the context
// is gone, so is all progress, unless somebody hands it over.
//
// # The script
//
// A script is JSON; testdata/full.json uses every part of it.
//
//	about     for people
//	compact   "auto" (default): a full context is summarised; "off": the session stops there
//	work      a list of like files to rewrite
//	end       what it says when nothing is left
//	extras    things done once in a context
//	agents    scripts of sub-agents, by the name an Agent call gives
//
// Work goes item by item: Read it, rewrite what was read, Edit or Write it. An
// item that the rewriting does not change is done already and costs only its
// Read.
//
//	item      regexp of an item's path, relative to the folder: "tests/\\S+_test\\.go"
//	find      command that lists all items; run when nobody told what is left, and when what was told is done
//	left      regexps that find a list of left items in a text, with a group "items" and maybe "dir";
//	          default: "left in <dir>: a, b, c"
//	done      the same for items that are done; default: "done in <dir>: a, b" and "edited in <dir>: a, b"
//	next      the same for where to go on; default: "next: go on in <dir> with a" and "next: <text with an item>"
//	replace   [{"match": regexp, "with": text with $1}], in order; doing it twice must change nothing more
//	write     "edit" (default): only the lines that differ; "write": the whole file
//	verify    {"items": 4, "run": "go test ./..."}: after so many items, and after the last
//	commit    the same, after verify; {item}, {dir} and {n} stand for the newest item, its folder, their number
//	final     commands when nothing is left; items that a failing one names are the next list
//
// The first regexp of a list that names items counts. A brief's list of what is
// left stands in place of find's; when it is worked off, find's list is gone
// through from the place where the brief began, since work goes in order.
//
// An extra has a name, a condition and what to do. All that "when" says must hold:
//
//	match     regexp on what came since the model's last message: prompt, brief, result
//	item      regexp on the item just written
//	items     so many items were written in this context
//	writing   regexp on the item about to be written
//	unless    regexp: nothing in the context says this
//	model     only for this model
//
// and "do" is at most one of the first four, with any of the others:
//
//	run       a Bash command: "duplex decide …", "sleep 60"
//	call      any tool: {"name": "Agent", "input": {"subagent_type": "look", "prompt": "…"}}, AskUser, Grep, …
//	end       say this and end the turn
//	limit     a rate limit: "2h", "2026-03-04T05:06:07Z", or "unknown"
//	say       text with the reply
//	wait      a file: the reply does not come before the file is there (a fifo: before it was written)
//	drop      regexp: what matches is left out of the item being written
//	crash     the process kills itself in the middle of the call: half of the file written, or the command running
//	times     do it so often in a row
//
// That an extra was done is known from the model's own messages, so a new
// context does it again: "unless" and "model" keep it from that.
package script
