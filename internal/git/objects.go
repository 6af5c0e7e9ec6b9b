package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Object is what git has under a name.
type Object struct {
	ID   string // "" when there is nothing under that name
	Type string // commit, tree, blob, tag
	Size int64  // bytes, unpacked
	Body []byte // nil when only headers were asked for
}

// Objects looks up names (ids, refs, "commit:path") in one process. The
// answers stand in the order of the names; a name git does not know gives an
// Object without an id. With bodies the contents come too.
func (r Runner) Objects(ctx context.Context, bodies bool, names ...string) ([]Object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	for _, n := range names {
		if n == "" || strings.ContainsAny(n, "\n\r") {
			return nil, fmt.Errorf("look up %q: not a name git can be asked for", n)
		}
	}
	mode := "--batch-check"
	if bodies {
		mode = "--batch"
	}
	objects := make([]Object, 0, len(names))
	err := r.Stream(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), func(out io.Reader) error {
		in := bufio.NewReaderSize(out, 64<<10)
		for range names {
			o, err := readObject(in, bodies)
			if err != nil {
				return fmt.Errorf("read git cat-file: %w", err)
			}
			objects = append(objects, o)
		}
		return nil
	}, "cat-file", mode)
	return objects, err
}

// readObject reads one answer of cat-file: "<id> <type> <size>" and, with
// bodies, that many bytes and a line end; or "<name> missing".
func readObject(in *bufio.Reader, body bool) (Object, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return Object{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	if strings.HasSuffix(line, " missing") || strings.HasSuffix(line, " ambiguous") {
		return Object{}, nil
	}
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return Object{}, fmt.Errorf("unexpected line %.200q", line)
	}
	size, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || size < 0 {
		return Object{}, fmt.Errorf("unexpected size in %.200q", line)
	}
	o := Object{ID: parts[0], Type: parts[1], Size: size}
	if !body {
		return o, nil
	}
	// Copied, not allocated from the number: a wrong number must not cost memory.
	var b bytes.Buffer
	if _, err := io.CopyN(&b, in, size); err != nil {
		return Object{}, err
	}
	if end, err := in.ReadByte(); err != nil || end != '\n' {
		return Object{}, fmt.Errorf("object %s does not end where it says", o.ID)
	}
	o.Body = b.Bytes()
	return o, nil
}
