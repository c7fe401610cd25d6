package fence

import (
	"path/filepath"
	"strings"
)

// Names of files and directories that hold credentials, wherever they are.
var (
	credentialDirs  = map[string]bool{".ssh": true, ".gnupg": true}
	credentialFiles = map[string]bool{"credentials.json": true, ".netrc": true, ".git-credentials": true}
	// trustFiles say what the operator allowed; they count in the host's home directory alone.
	trustFiles = map[string]bool{"permissions.json": true, "workspace-trust.json": true, "plugin-trust.json": true}
	// guardedDirs of the workspace hold what runs later: hooks, settings, commands.
	guardedDirs = map[string]bool{".git": true, ".crystal": true}
)

// Credential reports whether a path holds credentials by its spelling. It compares without case.
func (f *Fence) Credential(path string) bool {
	path = strings.ToLower(filepath.ToSlash(path))
	last := ""
	for part := range strings.SplitSeq(path, "/") {
		if credentialDirs[part] {
			return true
		}
		if part == "credentials" && last == ".aws" && strings.HasSuffix(path, "/.aws/credentials") {
			return true
		}
		if part != "" {
			last = part
		}
	}
	if path == ".aws/credentials" || credentialFiles[last] {
		return true
	}
	if !trustFiles[last] {
		return false
	}
	for _, home := range f.home {
		if strings.ToLower(filepath.ToSlash(filepath.Join(home, last))) == path {
			return true
		}
	}
	return false
}

// EndsInCredential reports whether a text is a path that holds credentials by its spelling, or ends in one behind "=",
// ":" or "@".
func (f *Fence) EndsInCredential(text string) bool {
	if f.Credential(text) {
		return true
	}
	lower := strings.ToLower(text)
	// What begins behind a mark is a path of its own: its parts are looked at once, however many marks there are.
	last, start := "", 0
	for i := 0; i <= len(lower); i++ {
		end := i == len(lower)
		if !end && !strings.ContainsRune("/=:@", rune(lower[i])) {
			continue
		}
		part := lower[start:i]
		switch {
		case credentialDirs[part] && (end || lower[i] == '/'):
			return true
		case end && (credentialFiles[part] || part == "credentials" && last == ".aws" && lower[start-1] == '/'):
			return true
		case end && trustFiles[part]:
			for _, home := range f.home {
				path := strings.ToLower(filepath.ToSlash(filepath.Join(home, part)))
				rest := strings.TrimSuffix(lower, path)
				if len(rest) < len(lower) && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "=:@")) {
					return true
				}
			}
		}
		last, start = part, i+1
	}
	return false
}

// guarded reports whether an absolute path is, or lies below, a directory of the workspace that holds what runs later.
func (f *Fence) guarded(path string) bool {
	rel, ok := f.relative(path)
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rel, "/")
	return guardedDirs[strings.ToLower(first)]
}
