package threadlog

import (
	"crypto/rand"
	"encoding/hex"
)

// newID makes the id of a thread.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// isID reports whether s has the form of an id.
func isID(s string) bool { return len(s) == 32 && isHex(s) }

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
