package workspace

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-5777983b/duplex/internal/git"
)

// turn is one locked use of a workspace's private git dir. What it writes is
// in a folder of its own until the end, so that a turn that fails or is
// killed leaves the private index and the user's objects as they were.
type turn struct {
	w       *Workspace
	lock    *os.File
	began   time.Time         // by the clock of the file system
	config  map[string]string // the user's
	width   int               // bytes of an object id
	tmp     string            // this turn's folder
	user    git.Runner        // the user's repository
	private git.Runner        // ours; new objects go to the quarantine
	dry     bool              // only look: repositories inside are not kept
}

// begin takes the lock and brings the private git dir up to date.
func (w *Workspace) begin(ctx context.Context) (*turn, error) {
	if err := w.prepare(); err != nil {
		return nil, err
	}
	lock, err := w.lock(ctx, lockWait)
	if err != nil {
		return nil, err
	}
	t := &turn{w: w, lock: lock}
	if err := t.open(ctx); err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

// prepare makes the folders; those of a shadow repository too.
func (w *Workspace) prepare() error {
	made := []string{w.private("info"), w.private("refs"), w.private("tmp")}
	if !w.Git {
		made = append(made, filepath.Join(w.GitDir, "objects"), filepath.Join(w.GitDir, "refs"))
	}
	for _, dir := range made {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("prepare safe points: %w", err)
		}
	}
	return nil
}

// shadowFiles make the shadow repository of a plain folder one.
func (w *Workspace) shadowFiles() error {
	return errors.Join(
		settle(filepath.Join(w.GitDir, "folder"), []byte(w.Top+"\n")),
		settle(filepath.Join(w.GitDir, "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n")),
		settle(filepath.Join(w.GitDir, "HEAD"), []byte("ref: refs/heads/main\n")),
	)
}

func (t *turn) open(ctx context.Context) (err error) {
	w := t.w
	if !w.Git {
		if err := w.shadowFiles(); err != nil {
			return err
		}
	}
	// Left by killed turns; we hold the lock, so nobody works in them.
	if err := sweep(w.private("tmp")); err != nil {
		return err
	}
	if t.tmp, err = os.MkdirTemp(w.private("tmp"), ""); err != nil {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	info, err := os.Stat(t.tmp)
	if err != nil {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	t.began = info.ModTime()
	t.user = git.User(w.GitDir, w.Top)
	t.user.Files = inherited(t.lock)
	if t.config, err = readConfig(ctx, t.user); err != nil {
		return err
	}
	if err := t.checkWorkTree(); err != nil {
		return err
	}
	t.width = idWidth(t.config)
	if err := t.writeConfig(); err != nil {
		return err
	}
	if err := os.Mkdir(t.quarantine(), 0o700); err != nil {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	t.private = git.Private(w.private(), w.Top).Storing(t.quarantine(), t.objects())
	t.private.Files = inherited(t.lock)
	return nil
}

// end gives the lock back. What the turn did not move into place is dropped.
func (t *turn) end() {
	if t.tmp != "" {
		_ = os.RemoveAll(t.tmp) // the next turn sweeps what is left
	}
	t.lock.Close()
}

func sweep(dir string) error {
	list, err := readDir(dir)
	if err != nil {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	for _, d := range list {
		if err := os.RemoveAll(filepath.Join(dir, d.Name())); err != nil {
			return fmt.Errorf("prepare safe points: %w", err)
		}
	}
	return nil
}

// readConfig reads the whole configuration of the user's repository; of a
// name that is set twice the last value counts, as for git. git gives sections
// and keys in lower case, and what is between them as it was written.
func readConfig(ctx context.Context, user git.Runner) (map[string]string, error) {
	list, err := user.Records(ctx, "config", "--list", "-z")
	if err != nil {
		return nil, fmt.Errorf("read the repository's configuration: %w", err)
	}
	config := make(map[string]string, len(list))
	for _, record := range list {
		name, value, set := strings.Cut(record, "\n")
		if !set {
			value = "true" // [core] bare
		}
		config[name] = value
	}
	return config, nil
}

// idWidth is the length of an object id in bytes.
func idWidth(config map[string]string) int {
	if config["extensions.objectformat"] == "sha256" {
		return sha256.Size
	}
	return sha1.Size
}

// checkWorkTree refuses repositories whose work tree is set to be elsewhere.
func (t *turn) checkWorkTree() error {
	other := t.config["core.worktree"]
	if other == "" {
		return nil
	}
	if !filepath.IsAbs(other) {
		other = filepath.Join(t.w.GitDir, other)
	}
	if real, err := filepath.EvalSymlinks(other); err == nil && real == t.w.Top {
		return nil
	}
	return fmt.Errorf("%w: core.worktree of %s says that its files are in %s; go there", ErrRefused, t.w.GitDir, other)
}

// writeConfig writes the configuration, attributes and exclude rules of the
// private git dir, each only when it changed.
func (t *turn) writeConfig() error {
	w := t.w
	exclude, err := os.ReadFile(filepath.Join(w.CommonDir, "info", "exclude"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	return errors.Join(
		settle(w.private("HEAD"), []byte("ref: refs/heads/none\n")),
		settle(w.private("config"), t.privateConfig()),
		// These outrank every .gitattributes: bytes are kept as they are, and
		// no filter of the user's is run. "!", since "-working-tree-encoding"
		// is an error.
		settle(w.private("info", "attributes"), []byte("* -text !eol !ident !filter !working-tree-encoding\n")),
		settle(w.private("info", "exclude"), exclude),
	)
}

// carried are the settings of the user's repository that say how its file
// system, ids and ignore rules are, not what to do.
var carried = [...]string{
	"core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode",
	"core.longpaths", "core.excludesfile", "core.sharedrepository", "core.protecthfs", "core.protectntfs",
}

func (t *turn) privateConfig() []byte {
	var b strings.Builder
	version := 0
	if t.width == 32 {
		version = 1
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n", version)
	b.WriteString("\tbare = false\n\tautocrlf = false\n\tsafecrlf = false\n\teol = lf\n" +
		"\thooksPath = /dev/null\n\tfsmonitor = false\n\tuntrackedCache = false\n" +
		"\tsparseCheckout = false\n\tsplitIndex = false\n\tlooseCompression = 1\n" +
		"\tlogAllRefUpdates = false\n\ttrustCtime = true\n\tcheckStat = default\n")
	for _, name := range carried {
		if value, ok := t.config[name]; ok {
			quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(value)
			fmt.Fprintf(&b, "\t%s = \"%s\"\n", strings.TrimPrefix(name, "core."), quoted)
		}
	}
	b.WriteString("[core]\n\tpager = cat\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[submodule]\n\trecurse = false\n[index]\n\tsparse = false\n\tskipHash = false\n")
	return []byte(b.String())
}

// settle writes a file whole, and only when its content differs.
func settle(path string, content []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(content) {
		return nil
	}
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("prepare safe points: %w", err)
	}
	return nil
}
