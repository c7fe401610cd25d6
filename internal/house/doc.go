// Package house holds the tests of the whole: which room may import which, what a plugin author's packages may depend on,
// the rules that every file keeps, and a tour past every contribution point, with contributions that work and that fail.
// It has no code of its own.
package house

//go:generate go test -run TestFailuresAtEveryPoint -update .
