package shellrisk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/crystalkernel/crystal/points/tool"
)

// input is what a command reads.
type input struct {
	kind inputKind
	text string // of fromText
}

type inputKind uint8

const (
	fromNowhere  inputKind = iota // what the line as a whole has: nothing
	fromPipe                      // what another command writes
	fromText                      // a text that stands in the line
	fromComputed                  // a text that is computed
	fromFile
)

// redirect judges one redirection, and returns the traits of what it substitutes.
func (j *judge) redirect(s *syntax.Stmt, r *syntax.Redirect) trait {
	traits := j.substitutions(r.Word)
	stdin := r.N == nil || r.N.Value == "0"
	if r.N != nil && strings.HasPrefix(r.N.Value, "{") {
		j.notRead()
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			traits |= j.substitutions(r.Hdoc)
		}
		text, ok := document(r)
		j.reads(stdin, text, ok)
		return traits
	case syntax.WordHdoc:
		v := j.single(r.Word)
		j.reads(stdin, v.text, v.static)
		j.credential(v.text, r.Word)
		return traits
	case syntax.DplIn, syntax.DplOut:
		v := j.single(r.Word)
		if v.static && isDescriptor(v.text) {
			if !harmless(r, v.text) {
				j.notRead()
			}
			return traits
		}
		if r.Op == syntax.DplIn {
			j.notRead()
			if !v.static {
				j.unknown("redirection to a computed target", s)
			}
			return traits
		}
	}
	writes := r.Op != syntax.RdrIn
	if r.Op == syntax.RdrIn || r.Op == syntax.RdrInOut {
		j.input = input{kind: fromFile}
	}
	for _, v := range j.expand(r.Word) {
		j.target(s, v, writes)
	}
	return traits
}

// reads notes what a here-document or here-string gives to a command.
func (j *judge) reads(stdin bool, text string, static bool) {
	if !static {
		j.notRead()
	}
	if !stdin {
		return
	}
	j.input = input{kind: fromComputed}
	if static {
		j.input = input{kind: fromText, text: text}
	}
}

// document is the text of a here-document, if it is static.
func document(r *syntax.Redirect) (string, bool) {
	if r.Hdoc == nil {
		return "", true
	}
	quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		if quoted {
			b.WriteString(lit.Value)
		} else {
			doubleQuoted(&b, lit.Value)
		}
	}
	return b.String(), true
}

// single is a word that braces do not multiply.
func (j *judge) single(w *syntax.Word) word {
	if w == nil {
		return word{}
	}
	v := j.evaluate(w.Parts)
	v.node = w
	return v
}

func isDescriptor(text string) bool {
	text = strings.TrimSuffix(text, "-")
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// harmless are the descriptors that a reading command may join.
func harmless(r *syntax.Redirect, to string) bool {
	from := "1"
	if r.N != nil {
		from = r.N.Value
	}
	return r.Op == syntax.DplOut && (from == "2" && to == "1" || from == "1" && to == "2")
}

// target judges the file that a redirection opens.
func (j *judge) target(s *syntax.Stmt, v word, writes bool) {
	j.credential(v.text, v.node)
	if !v.static {
		j.notRead()
		if writes {
			j.unknown("redirection to a computed target", s)
		}
		return
	}
	if device, rest := strings.CutPrefix(v.text, "/dev/"); rest {
		j.device(s, device, writes)
		return
	}
	if writes {
		j.notRead()
	}
	p := j.look(v)
	switch {
	case p.credential:
		j.forbid("credentials", s)
	case writes && p.guarded:
		j.privileged("writes where it can make later code run", s)
	case p.outside && writes:
		j.add(tool.Write, tool.OutsideWorkspace, "writes outside the workspace", s)
	case p.outside:
		j.notRead()
		j.leaves(s)
	}
}

// device judges a redirection to or from /dev.
func (j *judge) device(s *syntax.Stmt, name string, writes bool) {
	switch {
	case strings.HasPrefix(name, "tcp/"), strings.HasPrefix(name, "udp/"):
		j.network("reaches another machine", s)
	case name == "null":
	case name == "stdout", name == "stderr", name == "tty", strings.HasPrefix(name, "fd/"):
		j.notRead()
	case writes:
		j.forbid("writes to a device", s)
	case name == "zero", name == "random", name == "urandom", name == "stdin":
		j.notRead()
	default:
		j.notRead()
		j.leaves(s)
	}
}
