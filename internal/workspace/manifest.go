package workspace

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Reasons why something in the folder is not in a safe point.
const (
	Ignored    = "ignored"    // git ignores it
	Large      = "large"      // over 20 MiB and in no safe point yet
	Unreadable = "unreadable" // permission denied
	Special    = "special"    // a FIFO, socket or device
	Repository = "repository" // a repository inside this one that could not be kept
	Skipped    = "held back"  // the caller asked for it
	Sparse     = "sparse"     // a sparse checkout leaves it out; the tree has what the index has
	OtherTree  = "work tree"  // another work tree of this repository: a workspace of its own
)

// NotCovered is something a safe point does not hold. Going back leaves it
// alone.
type NotCovered struct {
	Path    string // with "/" at the end: a folder and all in it
	Size    int64  // bytes; 0 for folders
	ModTime time.Time
	Reason  string
}

// nested is the safe point of a repository inside the workspace.
type nested struct {
	Path    string // without "/" at the end
	Commit  string // in that repository
	Ref     string
	GitFile string // content of its .git, when that is a file: submodules
}

// manifest is what a safe point knows beside its tree. It is stored in the
// safe point's record commit.
type manifest struct {
	Objects    []string     // ids this safe point added, but for those of its own commits
	EmptyDirs  []string     // folders with nothing in them
	NotCovered []NotCovered // what is in the folder and not in the tree
	Nested     []nested
	RawIndex   bool // the user's index had conflicts and is kept as a file
}

// The file format: paths that are not UTF-8 stand as {"b64": …}.
type (
	manifestFile struct {
		Schema     string           `json:"schema"`
		Objects    []string         `json:"objects,omitempty"`
		EmptyDirs  []filePath       `json:"empty_dirs,omitempty"`
		NotCovered []notCoveredFile `json:"not_covered,omitempty"`
		Nested     []nestedFile     `json:"nested,omitempty"`
		RawIndex   bool             `json:"raw_index,omitempty"`
	}
	notCoveredFile struct {
		Path    filePath `json:"path"`
		Size    int64    `json:"size,omitempty"`
		ModTime int64    `json:"mtime,omitempty"` // Unix µs
		Reason  string   `json:"reason"`
	}
	nestedFile struct {
		Path    filePath `json:"path"`
		Commit  string   `json:"commit"`
		Ref     string   `json:"ref"`
		GitFile string   `json:"git_file,omitempty"`
	}
	filePath string
)

const manifestSchema = "duplex.manifest/1"

func (p filePath) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(p)) {
		return json.Marshal(string(p))
	}
	return json.Marshal(map[string]string{"b64": base64.StdEncoding.EncodeToString([]byte(p))})
}

func (p *filePath) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		*p = filePath(text)
		return nil
	}
	var coded struct {
		B64 []byte `json:"b64"`
	}
	if err := json.Unmarshal(data, &coded); err != nil {
		return err
	}
	*p = filePath(coded.B64)
	return nil
}

func (m *manifest) encode() ([]byte, error) {
	f := manifestFile{Schema: manifestSchema, Objects: m.Objects, RawIndex: m.RawIndex}
	for _, d := range m.EmptyDirs {
		f.EmptyDirs = append(f.EmptyDirs, filePath(d))
	}
	for _, n := range m.NotCovered {
		c := notCoveredFile{Path: filePath(n.Path), Size: n.Size, Reason: n.Reason}
		if !n.ModTime.IsZero() {
			c.ModTime = n.ModTime.UnixMicro()
		}
		f.NotCovered = append(f.NotCovered, c)
	}
	for _, n := range m.Nested {
		f.Nested = append(f.Nested, nestedFile{Path: filePath(n.Path), Commit: n.Commit, Ref: n.Ref, GitFile: n.GitFile})
	}
	return json.Marshal(f)
}

func decodeManifest(data []byte) (*manifest, error) {
	var f manifestFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read manifest of safe point: %w", err)
	}
	if f.Schema != manifestSchema {
		return nil, fmt.Errorf("manifest of safe point has schema %.40q; this Duplex reads %s: install the version that wrote it", f.Schema, manifestSchema)
	}
	m := &manifest{Objects: f.Objects, RawIndex: f.RawIndex}
	for _, d := range f.EmptyDirs {
		m.EmptyDirs = append(m.EmptyDirs, string(d))
	}
	for _, n := range f.NotCovered {
		c := NotCovered{Path: string(n.Path), Size: n.Size, Reason: n.Reason}
		if n.ModTime != 0 {
			c.ModTime = time.UnixMicro(n.ModTime).UTC()
		}
		m.NotCovered = append(m.NotCovered, c)
	}
	for _, n := range f.Nested {
		m.Nested = append(m.Nested, nested{Path: string(n.Path), Commit: n.Commit, Ref: n.Ref, GitFile: n.GitFile})
	}
	return m, nil
}

// sameCover says whether two safe points leave out the same things: sizes and
// times of what is left out may differ, since a growing log is no change.
func (m *manifest) sameCover(n *manifest) bool {
	if len(m.EmptyDirs) != len(n.EmptyDirs) || len(m.NotCovered) != len(n.NotCovered) ||
		len(m.Nested) != len(n.Nested) || m.RawIndex != n.RawIndex {
		return false
	}
	for i := range m.EmptyDirs {
		if m.EmptyDirs[i] != n.EmptyDirs[i] {
			return false
		}
	}
	for i, a := range m.NotCovered {
		if b := n.NotCovered[i]; a.Path != b.Path || a.Reason != b.Reason {
			return false
		}
	}
	for i, a := range m.Nested {
		if b := n.Nested[i]; a.Path != b.Path || a.Commit != b.Commit {
			return false
		}
	}
	return true
}
