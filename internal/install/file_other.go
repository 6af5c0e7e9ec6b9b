//go:build !unix

package install

import (
	"io/fs"
	"os"
)

func replaceable(string, fs.FileInfo) error { return nil }

func sameOwner(*os.File, string) error { return nil }
