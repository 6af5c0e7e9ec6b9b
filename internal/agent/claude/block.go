package claude

import (
	"strings"
	"unicode/utf8"
)

// block is one part of a message's content.
type block struct {
	kind                                 string
	text, id, name, input, content, call raw
	failed                               bool
}

func (b *block) field(key []byte, value raw) bool {
	switch string(key) {
	case "type":
		b.kind = value.text()
	case "text":
		b.text = value
	case "id":
		b.id = value
	case "name":
		b.name = value
	case "input":
		b.input = value
	case "content":
		b.content = value
	case "tool_use_id":
		b.call = value
	case "is_error":
		b.failed = value.isTrue()
	}
	return true
}

// blocks calls do with each block of a message's content, which may also be one
// text.
func blocks(content raw, do func(b block)) {
	if content.isString() {
		do(block{kind: "text", text: content})
		return
	}
	i := space(content, 0)
	if i >= len(content) || content[i] != '[' {
		return
	}
	for i = space(content, i+1); i < len(content) && content[i] != ']'; i = space(content, i+1) {
		var b block
		var end int
		if content[i] == '{' {
			var err error
			if end, err = walkAt(content, i, b.field); err != nil {
				return
			}
		} else if end = skip(content, i); end < 0 {
			return
		} else {
			b = block{kind: "text", text: content[i:end]}
		}
		do(b)
		if i = space(content, end); i >= len(content) || content[i] != ',' {
			return
		}
	}
}

// allText joins the text of a message's content.
func allText(content raw) string {
	var parts []string
	blocks(content, func(b block) {
		if b.kind == "text" {
			parts = append(parts, b.text.text())
		}
	})
	return strings.Join(parts, "\n")
}

// startBytes is how much of a result is looked at for the files it names.
const startBytes = 20_000

// startOfText is the beginning of allText.
func startOfText(content raw) string {
	if content.isString() && len(content) > startBytes {
		// Should the cut fall into an escape, its rest stays as it is.
		if text := unescaped(content[1:startBytes]); utf8.ValidString(text) {
			return text
		}
		return strings.ToValidUTF8(unescaped(content[1:startBytes]), "")
	}
	return allText(content)
}
