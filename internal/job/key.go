package job

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
)

// Keys make appending idempotent: hook and transcript make the same key for the
// same record, the first writes the entry, the second is known. They are digests,
// so no text of an agent stands in an envelope.

func key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p))))
		h.Write([]byte{':'})
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// RecordKey is the key of a record the provider named: a tool call's id, a
// message's id.
func RecordKey(agent, session string, kind Kind, record string) string {
	return key("record", agent, session, string(kind), record)
}

// PlaceKey is the key of a record without a name of its own: the event, the
// transcript offset or prompt id it stands at, and its ordinal there.
func PlaceKey(agent, session, event, place string, ordinal int) string {
	return key("place", agent, session, event, place, strconv.Itoa(ordinal))
}

// SpentKey is the key of one usage row: store-wide, without the session, since
// forks and resumes copy rows. The digest tells a grown row from a repeated one.
func SpentKey(agent, message string, t Tokens) string {
	d := key("usage", num(t.Input), num(t.CacheWrite5m), num(t.CacheWrite1h), num(t.CacheRead), num(t.Output), num(t.Reasoning))
	return key("spent", agent, message) + "/" + d[:16]
}

func num(n int64) string { return strconv.FormatInt(n, 10) }

// SpendKey is the part of a spent key that names the message, without its usage.
func SpendKey(spentKey string) string {
	for i := 0; i < len(spentKey); i++ {
		if spentKey[i] == '/' {
			return spentKey[:i]
		}
	}
	return spentKey
}
