package threadlog

import (
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/points/model"
)

// appendable reports whether a record may be appended by a caller and has what it needs.
func appendable(r Record) bool {
	switch r := r.(type) {
	case *Turn:
		return r != nil && complete(r)
	case *Round:
		if r == nil {
			return false
		}
		for _, it := range r.Items {
			if !known(it) {
				return false
			}
		}
		return true
	case *Result:
		return r != nil && complete(r)
	case *Compaction:
		return r != nil && complete(r)
	case *System:
		return r != nil
	case *Call:
		return r != nil
	case *Partial:
		return r != nil
	case *TurnEnd:
		return r != nil
	case *Prune:
		return r != nil
	case *Todos:
		return r != nil
	case *Mode:
		return r != nil
	case *Title:
		return r != nil
	}
	return false
}

// tidy gives an item its id and makes its texts what the file will hold, so that a request is the same before and after
// the thread is read again.
func (l *Log) tidy(it *model.Item) {
	if it.ID == "" {
		it.ID = l.NextItemID()
	} else {
		raise(&l.lastItem, itemNumber(it.ID))
	}
	for i := range it.Images {
		raise(&l.lastImage, int64(it.Images[i].Number))
	}
	valid(&it.Text)
	valid(&it.CallID)
	valid(&it.Name)
	valid(&it.Arguments)
	for i := range it.Segments {
		valid(&it.Segments[i].Text)
	}
	if it.Kind == model.ToolResult || it.Kind == model.Message && it.Role == model.User {
		it.Text = ownMarkers(it.Text, it.Images)
	}
}

// valid replaces bytes that are not UTF-8 by U+FFFD, one for each run of them.
func valid(s *string) {
	if !utf8.ValidString(*s) {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
}

// raise lifts a counter to at least n.
func raise(counter *atomic.Int64, n int64) {
	for {
		old := counter.Load()
		if old >= n || counter.CompareAndSwap(old, n) {
			return
		}
	}
}
