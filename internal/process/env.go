package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// needed are the variables without which a build or a test does not find its
// tools, its home or its language. None of them holds a secret by custom.
var needed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ",
	"TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "VIRTUAL_ENV", "NVM_DIR", "GEM_HOME",
	// Windows does not start a program without these.
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "USERNAME", "APPDATA",
	"LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS",
}

// Scrubbed is the environment that checks run in: what tools need to work, and
// nothing a test could leak or be steered by. Credentials, GIT_*, DUPLEX_* and
// everything not known here are left out; keep names exceptions, exactly or
// with a trailing *. The result is sorted, each name once, the last value won.
func Scrubbed(env []string, keep ...string) []string {
	values := map[string]string{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			continue
		}
		if names(keep, name) || (names(needed, name) || ofGo(name)) && !credential(name, value) {
			values[name] = value
		}
	}
	if !names(keep, "TERM") {
		values["TERM"] = "dumb"
	}
	kept := make([]string, 0, len(values))
	for name, value := range values {
		kept = append(kept, name+"="+value)
	}
	slices.Sort(kept)
	return kept
}

// names tells whether a list holds name, or a prefix of it that ends in *.
func names(list []string, name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(list, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return pattern == name || open && strings.HasPrefix(name, prefix)
	})
}

// ofGo tells the go command's settings, which are one word, from GOOGLE_API_KEY
// and the like, which are not.
func ofGo(name string) bool {
	if name == "GO111MODULE" {
		return true
	}
	rest, ok := strings.CutPrefix(name, "GO")
	return ok && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool { return r < 'A' || r > 'Z' }) ||
		name == "GO_EXTLINK_ENABLED"
}

// credential tells by the name, or by a password inside an address.
func credential(name, value string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"TOKEN", "SECRET", "PASS", "CREDENTIAL", "APIKEY", "_KEY", "PRIVATEKEY"} {
		if strings.Contains(upper, word) {
			return true
		}
	}
	for rest := value; ; {
		_, after, ok := strings.Cut(rest, "://")
		if !ok {
			return false
		}
		host, _, _ := strings.Cut(after, "/")
		if user, _, at := strings.Cut(host, "@"); at && strings.Contains(user, ":") {
			return true
		}
		rest = after
	}
}

// Changed is an environment with some entries changed: NAME=value is set, and a NAME
// alone is taken out.
func Changed(env []string, change ...string) []string {
	names := map[string]bool{}
	var set []string
	for _, entry := range change {
		name, _, is := strings.Cut(entry, "=")
		names[name] = true
		if is {
			set = append(set, entry)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return names[name]
	})
	return append(kept, set...)
}

// Lookup finds a variable in a list of NAME=value; the last one wins, as for
// the process that is started with it.
func Lookup(env []string, name string) (value string, ok bool) {
	for _, entry := range slices.Backward(env) {
		if found, value, cut := strings.Cut(entry, "="); cut && (found == name || runtime.GOOS == "windows" && strings.EqualFold(found, name)) {
			return value, true
		}
	}
	return "", false
}

// Look finds the program that a process with this environment would start, in
// env's PATH and not in ours. A name with a slash is returned as it is. The
// error is exec.ErrNotFound.
func Look(program string, env []string) (string, error) {
	if strings.ContainsRune(program, '/') || runtime.GOOS == "windows" {
		return exec.LookPath(program)
	}
	path, _ := Lookup(env, "PATH")
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, program)
		if info, err := os.Stat(file); filepath.IsAbs(dir) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("look for %s on PATH: %w", program, exec.ErrNotFound)
}
