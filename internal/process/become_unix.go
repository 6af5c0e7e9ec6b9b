//go:build !windows

package process

import (
	"fmt"
	"os"
	"syscall"
)

// Become puts a program in our own place: it has our terminal, our number and our
// parent, and we are gone. It returns only when that could not be.
func Become(argv []string, dir string, env []string) (exit int, err error) {
	path, err := Look(argv[0], env)
	if err != nil {
		return 0, err
	}
	if err := os.Chdir(dir); err != nil {
		return 0, fmt.Errorf("go to the folder: %w", err)
	}
	return 0, fmt.Errorf("start %s: %w", argv[0], syscall.Exec(path, argv, env))
}
