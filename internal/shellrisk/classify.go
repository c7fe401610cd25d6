package shellrisk

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/points/tool"
)

// Bounds of what is parsed.
const (
	maxText    = 64 << 10
	maxNodes   = 5000
	maxDepth   = 64
	maxNesting = 8
	maxParsed  = 1 << 20 // all texts together
	maxSummary = 200
)

// tooDeep is nested deeper than what is looked at. The parser takes long to find that out.
var tooDeep = strings.Repeat("(", maxDepth+1)

// Classify judges a command line that would run in the fence's workspace. It takes any text.
func Classify(command string, f *fence.Fence) tool.Classification {
	j := &judge{fence: f, at: place{dir: f.Workspace()}, readable: true}
	j.script(command, 0)
	return j.class()
}

// judge collects what is found in one command line.
type judge struct {
	fence *fence.Fence

	found    bool // there is a finding
	worst    finding
	outside  string // the first command that reaches outside; blank: none does
	readable bool   // everything so far is known to be harmless

	// State of the walk.
	source  string // that is being walked
	nesting int    // of eval and -c
	parsed  int    // bytes of text so far
	at      place
	input   input // of the command that is being walked
	fed     trait // of the substitutions in the redirections of that command
	traits  trait // of the commands walked since it was cleared
	calls   int   // of functions, that were judged again
	defined map[string]*function
}

// finding is a risk and an authority that a command needs, and why.
type finding struct {
	risk      tool.Risk
	authority tool.Authority
	summary   string
}

// trait is what a part of a pipeline does.
type trait uint8

const (
	downloads  trait = 1 << iota // it brings in what another machine sent
	interprets                   // it runs what it is given
)

// add notes a finding about a command.
func (j *judge) add(risk tool.Risk, authority tool.Authority, what string, n syntax.Node) {
	j.note(finding{risk, authority, summary(what, j.text(n))})
}

func (j *judge) note(f finding) {
	if !j.found {
		j.found, j.worst = true, f
		return
	}
	if f.risk > j.worst.risk || f.risk == j.worst.risk && f.authority > j.worst.authority {
		j.worst.summary = f.summary
	}
	j.worst.risk = max(j.worst.risk, f.risk)
	j.worst.authority = max(j.worst.authority, f.authority)
}

func (j *judge) forbid(what string, n syntax.Node) {
	j.add(tool.Forbidden, tool.PrivilegedEscalation, what, n)
}

func (j *judge) privileged(what string, n syntax.Node) {
	j.add(tool.Privileged, tool.PrivilegedEscalation, what, n)
}

// unknown notes what can't be known before it runs. It may do damage; that it needs more rights is not known either.
func (j *judge) unknown(what string, n syntax.Node) { j.add(tool.Privileged, tool.Workspace, what, n) }

func (j *judge) network(what string, n syntax.Node) { j.add(tool.Write, tool.Network, what, n) }

// leaves notes a path outside the workspace. It is the one finding that a reading command may have.
func (j *judge) leaves(n syntax.Node) {
	if j.outside == "" {
		j.outside = summary("outside the workspace", j.text(n))
	}
}

// notRead notes that something is not known to be harmless.
func (j *judge) notRead() { j.readable = false }

// text is the source of a node.
func (j *judge) text(n syntax.Node) string {
	if n == nil {
		return ""
	}
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from < 0 || from > to || to > len(j.source) {
		return ""
	}
	return j.source[from:to]
}

// class is the verdict on the whole.
func (j *judge) class() tool.Classification {
	k := tool.Classification{Risk: tool.Write, Authority: tool.Workspace, Summary: "runs commands that may change files"}
	if j.readable && !j.found {
		k.Risk, k.Summary = tool.Read, "runs commands that only read"
	}
	if j.outside != "" {
		k.Authority, k.Summary = tool.OutsideWorkspace, j.outside
	}
	if !j.found {
		return k
	}
	if j.worst.risk > k.Risk || j.worst.risk == k.Risk && j.worst.authority >= k.Authority {
		k.Summary = j.worst.summary
	}
	k.Risk = max(k.Risk, j.worst.risk)
	k.Authority = max(k.Authority, j.worst.authority)
	return k
}

// summary is one clean line.
func summary(what, command string) string {
	line := what
	command = command[:min(len(command), 4*maxSummary)] // cleaning makes it shorter, and never longer
	if command != "" {
		line += ": " + command
	}
	line = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '\uFFFD'
	}, strings.ToValidUTF8(line, "\uFFFD"))), " ")
	n := 0
	for i := range line {
		if n == maxSummary-1 {
			return line[:i] + "…"
		}
		n++
	}
	return line
}

// script parses a text and judges it.
func (j *judge) script(text string, nesting int) {
	unparsed := func() {
		j.note(finding{tool.Privileged, tool.PrivilegedEscalation, summary("command could not be parsed", text)})
	}
	j.parsed += len(text)
	if len(text) > maxText || nesting > maxNesting || j.parsed > maxParsed || strings.Contains(text, tooDeep) {
		unparsed()
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || !small(file) {
		unparsed()
		return
	}
	source, before := j.source, j.nesting
	j.source, j.nesting = text, nesting
	j.list(file.Stmts)
	j.source, j.nesting = source, before
}

// small reports whether a tree is within bounds.
func small(file *syntax.File) bool {
	nodes, depth, ok := 0, 0, true
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		nodes++
		depth++
		if nodes > maxNodes || depth > maxDepth {
			ok = false
		}
		if !ok {
			depth-- // the end of a node that is not entered is not told
		}
		return ok
	})
	return ok
}
