package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-5777983b/duplex/internal/job"
	"github.com/seed-5777983b/duplex/internal/redact"
)

// The compressors are made when the first long receipt comes: most hooks see none.
var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(128<<10), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithLowerEncoderMem(true)) // small tables: a hook pays for them once
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	})
)

// PutBlob keeps a long text once, whatever refers to it, and gives the name that a
// receipt refers to it by. An entry that names it makes it the job's.
func (t *Tx) PutBlob(text redact.Text) (digest string, err error) {
	data := []byte(text.String())
	sum := sha256.Sum256(data)
	digest = hex.EncodeToString(sum[:])
	found, err := t.c.one(func(row) error { return nil }, "SELECT 1 FROM blob WHERE digest = ?", digest)
	if err != nil || found {
		return digest, err
	}
	w, err := encoder()
	if err != nil {
		return "", err
	}
	_, err = t.c.exec("INSERT INTO blob (digest, size, data) VALUES (?, ?, ?)", digest, len(data), w.EncodeAll(data, nil))
	return digest, err
}

// Blob gives back what PutBlob kept, job.ErrNotFound when it is not there.
func (t *Tx) Blob(digest string) ([]byte, error) {
	var packed []byte
	found, err := t.c.one(func(r row) error {
		packed = r.bytes(0)
		return nil
	}, "SELECT data FROM blob WHERE digest = ?", digest)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("blob %s: %w", digest, job.ErrNotFound)
	}
	return unpack(digest, packed)
}

// unpack undoes the compression and holds the content against its name.
func unpack(digest string, packed []byte) ([]byte, error) {
	r, err := decoder()
	if err != nil {
		return nil, err
	}
	data, err := r.DecodeAll(packed, nil)
	if err == nil {
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
			err = fmt.Errorf("its content has another digest")
		}
	}
	if err != nil {
		return nil, torn("", "blob "+digest, err)
	}
	return data, nil
}
