// Package shellrisk judges a command line before it runs.
//
//	k := shellrisk.Classify("git push --force", f)
//	// k.Risk is tool.Forbidden, k.Summary "forced push: git push --force"
//
// The text is parsed as bash, and every simple command in it is judged wherever it stands. The class of the whole is the
// worst of all: adding a command never makes it better. A line is a Read only when everything in it is known to be
// harmless; what is merely not known to be harmful is a Write.
//
// The package knows programs by their names and options. It looks at the file system only to see where paths lead, and
// it doesn't run anything. What a program does with a file or a variable that it is given is beyond it: it is one of
// several fences, not the only one.
package shellrisk
