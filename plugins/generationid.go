package plugins

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync/atomic"
)

// generationIDs makes the ids of generations: a rising number, so that people can order them, and random digits, so that
// nobody takes one of another process for one of this.
type generationIDs struct{ last atomic.Uint64 }

func (g *generationIDs) next() string {
	var random [8]byte
	rand.Read(random[:])
	return "g" + strconv.FormatUint(g.last.Add(1), 16) + "-" + hex.EncodeToString(random[:])
}
