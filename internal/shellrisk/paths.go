package shellrisk

import (
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// spot is what is known of where a word leads as a path.
type spot struct {
	path                         string // resolved; blank: not known
	outside, credential, guarded bool
}

// look judges a static word as a path, from where the command runs.
func (j *judge) look(v word) spot {
	if v.other {
		return spot{outside: true, credential: j.fence.Credential(v.text)}
	}
	text := v.text
	if j.at.lost && !filepath.IsAbs(text) {
		return spot{outside: true, credential: j.fence.Credential(text)}
	}
	if home := j.homeDir(); strings.HasPrefix(text, "~/") && home != "~" {
		text = home + text[1:]
	}
	p, err := j.fence.JudgeFrom(j.at.dir, text)
	if err != nil {
		return spot{outside: true, credential: j.fence.Credential(text)}
	}
	return spot{path: p.Path, outside: p.Outside, credential: p.Credential, guarded: p.Guarded}
}

// isPath reports whether a text is spelled as a path, and not as a name.
func isPath(text string) bool {
	if text == "" {
		return false
	}
	if text[0] == '/' || text[0] == '~' || strings.HasPrefix(text, "./") {
		return true
	}
	return hasParent(text)
}

// hasParent reports whether a path goes up somewhere.
func hasParent(text string) bool {
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}

// exempt reports whether a path may be used by anybody.
func exempt(text string) bool {
	name, ok := strings.CutPrefix(text, "/dev/")
	if !ok {
		return false
	}
	switch name {
	case "null", "zero", "random", "urandom", "stdin", "stdout", "stderr":
		return true
	}
	return strings.HasPrefix(name, "fd/")
}

// pathArgument judges a word of a command as a path, when it is spelled as one, and so what stands behind its first "=".
func (j *judge) pathArgument(s *syntax.Stmt, v word) {
	if !v.static {
		return
	}
	j.maybePath(s, v)
	if _, value, ok := strings.Cut(v.text, "="); ok {
		j.maybePath(s, word{text: value, static: true, other: strings.HasPrefix(value, "~") && !strings.HasPrefix(value, "~/") && value != "~"})
	}
}

func (j *judge) maybePath(s *syntax.Stmt, v word) {
	if !(isPath(v.text) || v.home || v.other) || exempt(v.text) {
		return
	}
	p := j.look(v)
	if p.credential {
		j.forbid("credentials", s)
	}
	if p.outside {
		j.leaves(s)
	}
}

// readPath judges a word of a reading command that is spelled as a name: it may be a link that leads out.
func (j *judge) readPath(s *syntax.Stmt, v word) {
	if v.text == "" || v.text[0] == '-' || isPath(v.text) || v.home || v.other || v.glob {
		return
	}
	p := j.look(v)
	if p.credential {
		j.forbid("credentials", s)
	}
	if p.outside {
		j.leaves(s)
	}
}

// credential notes a text that is a path to credentials, or ends in one.
func (j *judge) credential(text string, n syntax.Node) {
	if text == "" {
		return
	}
	if j.fence.EndsInCredential(text) || !filepath.IsAbs(text) && j.fence.Credential(filepath.Join(j.at.dir, text)) {
		j.forbid("credentials", n)
	}
}

// above reports whether a resolved path is the workspace, or a directory that it lies in.
func (j *judge) above(path string) bool {
	workspace := j.fence.Workspace()
	rel, err := filepath.Rel(path, workspace)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// guardedOperands notes operands of a writing command that lie where they can make later code run.
func (j *judge) guardedOperands(s *syntax.Stmt, words []word) {
	for _, v := range words {
		if !v.static {
			continue
		}
		texts := []string{v.text}
		if _, value, ok := strings.Cut(v.text, "="); ok {
			texts = append(texts, value)
		}
		for _, text := range texts {
			if text == "" || text[0] == '-' {
				continue
			}
			if j.look(word{text: text, static: true, other: v.other}).guarded {
				j.privileged("writes where it can make later code run", s)
				return
			}
		}
	}
}

// change judges a change of directory.
func (j *judge) change(s *syntax.Stmt, args []word) {
	o := sortOptions(args)
	target := word{text: j.homeDir(), static: true, home: true}
	if len(o.operands) > 0 {
		target = o.operands[0]
	}
	if !target.static || target.glob || target.text == "-" || o.has("-") {
		j.at.lost = true
		j.leaves(s)
		return
	}
	p := j.look(target)
	switch {
	case p.outside || p.path == "":
		j.leaves(s)
		j.at.moved = true
		if p.path == "" {
			j.at.lost = true
		}
	default:
		j.at.moved = p.path != j.fence.Workspace()
	}
	j.at.dir = p.path
}
