package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
)

// StateDir is the folder that holds everything Duplex keeps: DUPLEX_HOME, else duplex in XDG_STATE_HOME, in
// ~/.local/state, or on Windows in %LocalAppData%. It need not exist yet.
func StateDir(getenv func(string) string) (string, error) {
	return stateDir(runtime.GOOS, getenv)
}

// UserFile is a person's own settings file: duplex/config.toml in XDG_CONFIG_HOME, in ~/.config, or on
// Windows in %AppData%. It need not exist; it is empty when there is no home folder to look in.
func UserFile(getenv func(string) string) string {
	folder, err := userDir(runtime.GOOS, getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "config.toml")
}

// UserDir is the folder of UserFile. What is there outlives the state, which is why the store leaves its
// marker in it.
func UserDir(getenv func(string) string) (string, error) {
	return userDir(runtime.GOOS, getenv)
}

func stateDir(system string, getenv func(string) string) (string, error) {
	if home := getenv("DUPLEX_HOME"); home != "" {
		if !filepath.IsAbs(home) {
			return "", fmt.Errorf("DUPLEX_HOME is %q: give it an absolute path, or each folder has a store of its own", home)
		}
		return filepath.Clean(home), nil
	}
	return standard(system, getenv, "XDG_STATE_HOME", "LocalAppData", ".local", "state")
}

func userDir(system string, getenv func(string) string) (string, error) {
	return standard(system, getenv, "XDG_CONFIG_HOME", "AppData", ".config")
}

// standard is the folder duplex in one of the system's own places. A relative XDG folder is passed over, as
// that standard asks.
func standard(system string, getenv func(string) string, xdg, windows string, below ...string) (string, error) {
	if folder := getenv(xdg); filepath.IsAbs(folder) {
		return filepath.Join(folder, "duplex"), nil
	}
	if system == "windows" {
		if folder := getenv(windows); folder != "" {
			return filepath.Join(folder, "duplex"), nil
		}
		return "", fmt.Errorf("%%%s%% is not set: set it, or DUPLEX_HOME", windows)
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("HOME is not set: set it, or DUPLEX_HOME")
	}
	return filepath.Join(append(append([]string{home}, below...), "duplex")...), nil
}
