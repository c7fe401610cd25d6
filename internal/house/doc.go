// Package house holds the tests of the tree itself: which room may import which, what a plugin author's packages may depend
// on, and the rules that every file keeps. It has no code of its own.
package house
