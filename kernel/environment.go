package kernel

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// hostPlaceholder resolves the names that describe the machine and the workspace. A name without a value here is blank.
func hostPlaceholder(name, workspace string) string {
	switch name {
	case "platform":
		return runtime.GOOS + "/" + runtime.GOARCH
	case "os":
		return runtime.GOOS
	case "architecture":
		return runtime.GOARCH
	case "date":
		return time.Now().Format("2006-01-02")
	case "time":
		return time.Now().Format("15:04 -07:00")
	case "git_root":
		return strings.ReplaceAll(gitRoot(workspace), `\`, "/")
	case "is_git_repo":
		if gitRoot(workspace) != "" {
			return "true"
		}
		return "false"
	case "env":
		return "Workspace: " + strings.ReplaceAll(workspace, `\`, "/") + "\nPlatform: " + runtime.GOOS + "/" + runtime.GOARCH +
			"\nDate: " + time.Now().Format("2006-01-02")
	}
	return ""
}

// gitRoot returns the nearest directory that holds .git, from dir upwards; blank for none.
func gitRoot(dir string) string {
	for dir != "" {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}
