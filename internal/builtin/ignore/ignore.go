// Package ignore tells which files git ignores, by the .gitignore files of a tree.
//
// A walk starts with a nil [List] and adds the rules of each directory that it enters:
//
//	rules := parent.Add("src", data)
//	if rules.Ignored("src/main.o", false) { ... }
//
// Rules in force for a file are those of its directory and of all directories above; the last one that matches decides. A
// directory that is ignored is not entered, so nothing below it can be taken in again.
package ignore

import "strings"

// List is the rules in force in one directory. A nil List has none. A List is immutable.
type List struct {
	above *List
	rules []rule
}

// Add returns the rules in force in dir, whose .gitignore holds data. dir is relative to the start of the walk, with
// forward slashes; blank or "." is the start. Lines that are no rule are skipped.
func (l *List) Add(dir string, data []byte) *List {
	if dir == "." {
		dir = ""
	}
	var rules []rule
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		if r, ok := parse(strings.TrimSuffix(line, "\r"), dir); ok {
			rules = append(rules, r)
		}
	}
	if len(rules) == 0 {
		return l
	}
	return &List{above: l, rules: rules}
}

// Ignored reports whether the rules leave out a path, which is relative to the start of the walk.
func (l *List) Ignored(path string, isDir bool) bool {
	for ; l != nil; l = l.above {
		for i := len(l.rules) - 1; i >= 0; i-- {
			if r := &l.rules[i]; r.matches(path, isDir) {
				return !r.negated
			}
		}
	}
	return false
}
