package store

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-5777983b/duplex/internal/job"
)

const keyFile = "duplex.key"

// keyring holds what must not stand in the database: a copy of the database says
// nothing about them, and a database without them reads "hashes hold, unsigned".
type keyring struct {
	machine job.ID
	install []byte // makes redact's markers
	mac     []byte // signs the chain
	macID   string // names the key, from its digest
}

// loadKeys reads the key file, making it when make is set. Two processes that make
// it at once agree on one.
func loadKeys(dir string, make bool) (keyring, error) {
	path := filepath.Join(dir, keyFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if !make {
			return keyring{}, nil
		}
		if err := writeKeys(path); err != nil {
			return keyring{}, fmt.Errorf("make %s: %w", path, err)
		}
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return keyring{}, fmt.Errorf("read keys: %w", err)
	}
	k, err := parseKeys(data)
	if err != nil {
		return keyring{}, fmt.Errorf("read %s: %w; put a backup of it back, or move it away: the ledgers then read as unsigned", path, err)
	}
	return k, nil
}

func writeKeys(path string) error {
	var machine [16]byte
	var install, mac [32]byte
	for _, b := range [][]byte{machine[:], install[:], mac[:]} {
		rand.Read(b) // never fails
	}
	text := fmt.Sprintf("machine %s\ninstall %x\nmac %x\n", job.NewID(machine), install, mac)
	return publish(path, func(temp string) error { return os.WriteFile(temp, []byte(text), 0o600) })
}

func parseKeys(data []byte) (keyring, error) {
	var k keyring
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		var err error
		switch name {
		case "machine":
			if k.machine = job.ID(value); !k.machine.Valid() {
				err = job.ErrInvalid
			}
		case "install":
			k.install, err = hex.DecodeString(value)
		case "mac":
			k.mac, err = hex.DecodeString(value)
		}
		if err != nil {
			return keyring{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if k.machine == "" || len(k.install) < 16 || len(k.mac) < 16 {
		return keyring{}, fmt.Errorf("%w: a key is not there", job.ErrInvalid)
	}
	id := sha256.Sum256(append([]byte("duplex key id\x00"), k.mac...))
	k.macID = hex.EncodeToString(id[:8])
	return k, nil
}

// publish makes a file whole or not at all, and leaves one that is there already.
func publish(path string, write func(temp string) error) error {
	var nonce [6]byte
	rand.Read(nonce[:])
	temp := fmt.Sprintf("%s.%x.new", path, nonce)
	defer os.Remove(temp)
	if err := errors.Join(write(temp), flush(temp)); err != nil {
		return err
	}
	err := os.Link(temp, path)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return nil
	}
	// A file system without hard links: the window between the two is small.
	if _, found := os.Lstat(path); found == nil {
		return nil
	}
	return os.Rename(temp, path)
}

// flush sees to it that a power cut does not leave a file with a name and no content.
func flush(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ID names this store.
func (t *Tx) ID() (job.ID, error) {
	id, err := t.c.meta("store")
	return job.ID(id), err
}

// Machine names this machine, for envelopes. It outlives the database.
func (s *Store) Machine() job.ID { return s.keys.machine }

// MarkerKey is the key redact makes its markers with: secret to this installation,
// empty when a store that is only read has none.
func (s *Store) MarkerKey() []byte { return bytes.Clone(s.keys.install) }

// MarkerKey reads that key of a store that is not opened. The error says that
// there is none.
func MarkerKey(dir string) ([]byte, error) {
	k, err := loadKeys(dir, false)
	if err == nil && len(k.install) == 0 {
		err = fmt.Errorf("no %s in %s: %w", keyFile, dir, fs.ErrNotExist)
	}
	return k.install, err
}
