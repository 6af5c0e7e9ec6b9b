package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// targets are the systems that a release is built for. Without cgo one machine builds them all.
var targets = [][2]string{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"}, {"windows", "arm64"},
}

func builds(ctx context.Context, s *suite) error {
	folder, err := os.MkdirTemp("", "duplex-builds-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	var wrong []error
	for _, target := range targets {
		variables := []string{"GOOS=" + target[0], "GOARCH=" + target[1], "CGO_ENABLED=0"}
		if _, err := s.output(ctx, variables, "go", "build", "-o", folder+string(os.PathSeparator), "./..."); err != nil {
			wrong = append(wrong, fmt.Errorf("%s/%s: %w", target[0], target[1], err))
		}
	}
	return errors.Join(wrong...)
}
