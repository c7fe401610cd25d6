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

// guarded reports whether an absolute path is, or lies below, a directory of the workspace that holds what runs later.
func (f *Fence) guarded(path string) bool {
	rel, ok := f.relative(path)
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rel, "/")
	return guardedDirs[strings.ToLower(first)]
}
