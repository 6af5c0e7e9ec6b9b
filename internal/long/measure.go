package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// A child begins with the resident memory of the process that started it, so
// memory is measured by a small process between: this program once more.
const measureFlag = "-measure-memory"

// measure runs a command and prints the most resident memory it had, in bytes.
func measure(argv []string) int {
	c := exec.Command(argv[0], argv[1:]...)
	var errs bytes.Buffer
	c.Stderr = &errs
	if err := c.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %s\n", err, errs.String())
		return 1
	}
	fmt.Println(maxRSS(c.ProcessState))
	return 0
}

// memory is the most resident memory of one command, in bytes.
func (b *bench) memory(ctx context.Context, home string, argv ...string) (int64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	c, err := b.run(ctx, home, nil, append([]string{self, measureFlag}, argv...)...)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(c.out)), 10, 64)
}
