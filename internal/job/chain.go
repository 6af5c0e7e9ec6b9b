package job

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// Digest is SHA-256.
type Digest [sha256.Size]byte

// PayloadDigest is SHA-256(salt ‖ payload). The salt keeps an erased payload from
// being guessed; when payload and salt are dropped, the digest stays in the chain.
func PayloadDigest(salt, payload []byte) Digest {
	h := sha256.New()
	h.Write(salt)
	h.Write(payload)
	return Digest(h.Sum(nil))
}

// ChainHash is SHA-256 over the length-prefixed envelope, the previous entry's
// hash and the payload digest. The first entry's previous hash is zero.
func ChainHash(e *Envelope, previous, payload Digest) Digest {
	h := sha256.New()
	buf := make([]byte, 0, 512)
	str := func(s string) {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(s)))
		buf = append(buf, s...)
	}
	num := func(n int64) {
		buf = binary.BigEndian.AppendUint32(buf, 8)
		buf = binary.BigEndian.AppendUint64(buf, uint64(n))
	}
	str(string(e.Job))
	num(e.Position)
	str(string(e.ID))
	str(string(e.Kind))
	num(int64(e.V))
	num(int64(e.RecordedAt))
	num(int64(e.HappenedAt))
	str(string(e.TimeSource))
	str(string(e.Workspace))
	str(string(e.Session))
	str(string(e.Author.Kind))
	str(e.Author.Name)
	num(e.Token)
	str(string(e.Machine))
	num(e.MachineSeq)
	str(e.Key)
	num(flag(e.Late, 1) | flag(e.Guest, 2))
	h.Write(buf)
	h.Write(previous[:])
	h.Write(payload[:])
	return Digest(h.Sum(nil))
}

func flag(b bool, v int64) int64 {
	if b {
		return v
	}
	return 0
}

// ChainMAC signs a hash with the store's key.
func ChainMAC(key []byte, hash Digest) Digest {
	m := hmac.New(sha256.New, key)
	m.Write(hash[:])
	return Digest(m.Sum(nil))
}
