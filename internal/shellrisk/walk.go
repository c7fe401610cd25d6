package shellrisk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxCalls is how often the bodies of functions are judged again where they are called.
const maxCalls = 64

// place is where relative paths start from.
type place struct {
	dir   string
	lost  bool // it is not known
	moved bool // it is not the workspace
}

// function is a function that was declared.
type function struct {
	body   *syntax.Stmt
	source string
	at     place
	traits trait
	moves  bool // it changes the directory
	active bool // it is being judged
}

func (j *judge) list(stmts []*syntax.Stmt) {
	for _, s := range stmts {
		j.stmt(s)
	}
}

// apart judges what runs in a shell of its own: where it goes has no effect on what follows.
func (j *judge) apart(f func()) {
	at, in := j.at, j.input
	f()
	j.at, j.input = at, in
}

// separately returns the traits of what f judges, which count for the whole too.
func (j *judge) separately(f func()) trait {
	before := j.traits
	j.traits = 0
	f()
	mine := j.traits
	j.traits |= before
	return mine
}

func (j *judge) stmt(s *syntax.Stmt) {
	if s.Coprocess || s.Disown {
		j.notRead()
	}
	if s.Background {
		j.apart(func() { j.plainStmt(s) })
		return
	}
	j.plainStmt(s)
}

func (j *judge) plainStmt(s *syntax.Stmt) {
	in, fed := j.input, j.fed
	for _, r := range s.Redirs {
		j.fed |= j.redirect(s, r)
	}
	j.command(s)
	j.input, j.fed = in, fed
}

func (j *judge) command(s *syntax.Stmt) {
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		j.call(s, c)
	case *syntax.BinaryCmd:
		j.binary(s, c)
	case *syntax.Subshell:
		j.apart(func() { j.list(c.Stmts) })
	case *syntax.Block:
		j.list(c.Stmts)
	case *syntax.IfClause:
		j.conditional(c)
	case *syntax.WhileClause:
		j.loop(c, func() {
			j.list(c.Cond)
			j.list(c.Do)
		})
	case *syntax.ForClause:
		j.forLoop(s, c)
	case *syntax.CaseClause:
		j.cases(c)
	case *syntax.TestClause:
		j.test(c)
	case *syntax.DeclClause:
		j.declaration(s, c)
	case *syntax.FuncDecl:
		j.declare(c)
	case *syntax.TimeClause:
		j.notRead()
		if c.Stmt != nil {
			j.stmt(c.Stmt)
		}
	case *syntax.CoprocClause:
		j.notRead()
		j.apart(func() { j.stmt(c.Stmt) })
	default:
		// Arithmetic and what this package doesn't know: nothing to run but its substitutions.
		j.notRead()
		j.substitutions(c)
	}
}

// binary judges a list or a pipeline. What was downloaded left of an interpreter may be what it runs.
func (j *judge) binary(s *syntax.Stmt, c *syntax.BinaryCmd) {
	if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt {
		j.stmt(c.X)
		j.stmt(c.Y)
		return
	}
	left := j.separately(func() { j.apart(func() { j.stmt(c.X) }) })
	right := j.separately(func() {
		j.apart(func() {
			j.input = input{kind: fromPipe}
			j.stmt(c.Y)
		})
	})
	if left&downloads != 0 && right&interprets != 0 {
		j.forbid("runs downloaded code", s)
	}
}

// either judges branches of which one runs, each from where the first starts.
func (j *judge) either(branches ...func()) {
	start := j.at
	end := start
	for i, branch := range branches {
		j.at = start
		branch()
		if i == 0 {
			end = j.at
		} else if j.at != end {
			end.lost = true
		}
	}
	j.at = end
}

func (j *judge) conditional(c *syntax.IfClause) {
	j.list(c.Cond)
	j.either(func() { j.list(c.Then) }, func() {
		switch {
		case c.Else == nil:
		case len(c.Else.Cond) == 0:
			j.list(c.Else.Then)
		default:
			j.conditional(c.Else)
		}
	})
}

func (j *judge) cases(c *syntax.CaseClause) {
	j.value(c.Word)
	branches := []func(){func() {}}
	for _, item := range c.Items {
		for _, p := range item.Patterns {
			j.value(p)
		}
		branches = append(branches, func() { j.list(item.Stmts) })
	}
	j.either(branches...)
}

// loop judges a body that may run again, from wherever it went.
func (j *judge) loop(n syntax.Node, body func()) {
	if moves(n) {
		j.at.lost = true
	}
	j.either(body, func() {})
}

func (j *judge) forLoop(s *syntax.Stmt, c *syntax.ForClause) {
	if c.Select {
		j.notRead()
	}
	switch l := c.Loop.(type) {
	case *syntax.WordIter:
		j.variable(l.Name.Value, s)
		for _, w := range l.Items {
			j.value(w)
		}
	default:
		j.notRead()
		j.substitutions(l)
	}
	j.loop(c, func() { j.list(c.Do) })
}

// moves reports whether something below a node changes the directory, as far as can be seen.
func moves(n syntax.Node) bool {
	found := false
	syntax.Walk(n, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
			switch c.Args[0].Lit() {
			case "cd", "pushd", "popd", "eval", "builtin", "command", "source", ".":
				found = true
			}
		}
		return !found
	})
	return found
}

// declare judges the body of a function, called or not, and keeps it for where it is called.
func (j *judge) declare(c *syntax.FuncDecl) {
	j.notRead()
	if c.Name == nil || c.Body == nil {
		return
	}
	f := &function{body: c.Body, source: j.source, at: j.at, moves: moves(c.Body), active: true}
	if j.defined == nil {
		j.defined = map[string]*function{}
	}
	j.defined[c.Name.Value] = f
	f.traits = j.separately(func() { j.apart(func() { j.stmt(c.Body) }) })
	f.active = false
}

// invoke judges a call of a function that was declared: from elsewhere its relative paths are others.
func (j *judge) invoke(f *function, n syntax.Node) {
	j.traits |= f.traits
	if f.active {
		return
	}
	if f.at != j.at || j.input.kind != fromNowhere {
		if j.calls++; j.calls > maxCalls {
			j.unknown("calls too many functions", n)
			return
		}
		f.active = true
		source := j.source
		j.source = f.source
		j.apart(func() { j.stmt(f.body) })
		j.source = source
		f.active = false
	}
	if f.moves {
		j.at.lost = true
	}
}

// value judges a word that is data: what it substitutes runs, and what it shows may be a secret.
func (j *judge) value(w *syntax.Word) {
	if w == nil {
		return
	}
	for _, v := range j.expand(w) {
		if !v.static {
			j.notRead()
		}
		j.credential(v.text, w)
	}
	j.substitutions(w)
}

// test judges [[ ]].
func (j *judge) test(c *syntax.TestClause) {
	syntax.Walk(c.X, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok {
			return true
		}
		j.value(w)
		for _, v := range j.expand(w) {
			if evaluates(v.text) {
				j.notRead()
			}
		}
		return false
	})
}

// evaluates reports whether arithmetic, which some tests do with their words, would run something in a text.
func evaluates(text string) bool { return strings.Contains(text, "$(") || strings.Contains(text, "`") }

// substitutions judges all commands that are substituted below a node, and returns the traits of theirs.
func (j *judge) substitutions(n syntax.Node) trait {
	if n == nil {
		return 0
	}
	return j.separately(func() {
		syntax.Walk(n, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CmdSubst:
				j.notRead()
				j.apart(func() {
					j.input = input{}
					j.list(n.Stmts)
				})
				return false
			case *syntax.ProcSubst:
				j.notRead()
				j.apart(func() {
					j.input = input{}
					if n.Op == syntax.CmdOut {
						j.input.kind = fromPipe
					}
					j.list(n.Stmts)
				})
				return false
			}
			return true
		})
	})
}
