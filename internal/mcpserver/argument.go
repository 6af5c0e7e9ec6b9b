package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

// The arguments of a tool are the fields of a struct. Tags: json names one, and
// omitempty makes it one that may be left out; says is for the agent; most bounds a
// text (bytes of its JSON form) or a list (its length), so that nothing is cut behind
// the agent's back; one lists the values there are.

// name is an entry as agents name it: a position, as a number or with #, an id, or
// words of it.
type name string

// UnmarshalJSON takes a number for a position.
func (n *name) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '"' {
		position, err := strconv.ParseInt(string(b), 10, 64)
		*n = name(strconv.FormatInt(position, 10))
		return err
	}
	return json.Unmarshal(b, (*string)(n))
}

// schemaOf is the JSON Schema of a tool's arguments.
func schemaOf[In any]() json.RawMessage {
	properties, required := map[string]any{}, []string{}
	for _, f := range fieldsOf[In]() {
		p := map[string]any{"description": f.says}
		switch f.kind {
		case reflect.TypeFor[string]():
			p["type"] = "string"
			if f.one != nil {
				p["enum"] = f.one
			} else if f.most > 0 {
				p["maxLength"] = f.most
			}
		case reflect.TypeFor[name]():
			p["type"] = []string{"string", "integer"}
		case reflect.TypeFor[int]():
			p["type"], p["minimum"] = "integer", 0
		case reflect.TypeFor[bool]():
			p["type"] = "boolean"
		default: // a list of texts
			p["type"], p["items"] = "array", map[string]any{"type": "string"}
			p["maxItems"] = f.most
		}
		properties[f.name] = p
		if f.required {
			required = append(required, f.name)
		}
	}
	b, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false})
	if err != nil {
		panic(err) // of our own making, and of every call or none
	}
	return b
}

// field is one argument.
type field struct {
	name, says string
	required   bool
	most       int
	one        []string
	kind       reflect.Type
	index      int
}

func fieldsOf[In any]() []field {
	t := reflect.TypeFor[In]()
	out := make([]field, t.NumField())
	for i := range out {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		out[i] = field{name: name, says: f.Tag.Get("says"), required: options == "", kind: f.Type, index: i}
		out[i].most, _ = strconv.Atoi(f.Tag.Get("most"))
		if one := f.Tag.Get("one"); one != "" {
			out[i].one = strings.Split(one, "|")
		}
	}
	return out
}

// read decodes the arguments of a call and holds them to the schema. Its errors say
// what there is.
func read[In any](tool string, raw json.RawMessage) (in In, err error) {
	given := map[string]json.RawMessage{}
	if len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		if err := json.Unmarshal(raw, &given); err != nil {
			return in, fmt.Errorf("the arguments of %s are no object", tool)
		}
	}
	fields := fieldsOf[In]()
	for n := range given {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == n }) {
			return in, unknownArgument(tool, n, fields)
		}
	}
	v := reflect.ValueOf(&in).Elem()
	for _, f := range fields {
		b, ok := given[f.name]
		if !ok || bytes.Equal(b, []byte("null")) {
			if f.required {
				return in, fmt.Errorf("%s wants %s: %s", tool, f.name, f.says)
			}
			continue
		}
		if json.Unmarshal(b, v.Field(f.index).Addr().Interface()) != nil {
			return in, fmt.Errorf("%s of %s is no %s", f.name, tool, f.wants())
		}
		if err := f.holds(v.Field(f.index)); err != nil {
			return in, fmt.Errorf("%s of %s %w", f.name, tool, err)
		}
	}
	return in, nil
}

func unknownArgument(tool, n string, fields []field) error {
	if why := personArguments[n]; why != "" {
		return fmt.Errorf("%s takes no %s here: %s", tool, n, why)
	}
	if len(fields) == 0 {
		return fmt.Errorf("%s takes no arguments, and got %s", tool, job.Clip(n, 60))
	}
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	return fmt.Errorf("%s takes no %s; it takes %s", tool, job.Clip(n, 60), strings.Join(names, ", "))
}

func (f field) wants() string {
	switch f.kind.Kind() {
	case reflect.Int:
		return "whole number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "list of texts"
	}
	return "text"
}

func (f field) holds(v reflect.Value) error {
	switch {
	case f.one != nil && !slices.Contains(f.one, v.String()):
		return fmt.Errorf("is one of %s", strings.Join(f.one, ", "))
	case v.Kind() == reflect.Int && v.Int() < 0:
		return errors.New("is less than nothing")
	case v.Kind() == reflect.String && f.most > 0 && job.Clip(v.String(), f.most) != v.String():
		return fmt.Errorf("is too long: %d characters at most; say it shorter, or in several", f.most)
	case v.Kind() == reflect.Slice && v.Len() > f.most:
		return fmt.Errorf("has %d; %d at most", v.Len(), f.most)
	}
	return nil
}
