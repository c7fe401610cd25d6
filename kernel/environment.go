package kernel

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
)

// Bind replaces the {{name}} tokens of a text outside of a turn, as a turn replaces those of its prompt. b says what the
// names of the host stand for; blank where the host does not know. A contributed placeholder that fails leaves its token
// and is reported. The error is that of ctx.
func (k *Kernel) Bind(ctx context.Context, b prompt.Binding, text string) (string, error) {
	return composer.Bind(ctx, k.registry.View(), composer.Inputs{
		Binding: k.informed(b), Host: func(name string) string { return hostValue(name, &b) }, Report: k.report,
	}, text)
}

// FactsBy sets what tells placeholders which models the host uses: it needs the kernel, and so it comes late. It is called
// while a host is built. Without it the facts are empty.
func (k *Kernel) FactsBy(f model.Facts) { k.facts = f }

// informed adds what the kernel knows of its host.
func (k *Kernel) informed(b prompt.Binding) prompt.Binding {
	if e := k.environment.Load(); e != nil {
		b.Environment = *e
	}
	if b.Facts = k.facts; b.Facts == nil {
		b.Facts = noFacts{}
	}
	return b
}

// noFacts are those of a host that tells none.
type noFacts struct{}

func (noFacts) Session(context.Context) model.Description { return model.Description{} }
func (noFacts) Review() model.ReviewFacts                 { return model.ReviewFacts{} }

// hostValue resolves the names that the host owns.
func hostValue(name string, b *prompt.Binding) string {
	switch name {
	case "workspace":
		return strings.ReplaceAll(b.Workspace, `\`, "/")
	case "provider":
		return b.Provider
	case "model":
		return b.Model
	case "model_line":
		return b.Provider + "/" + b.Model
	case "mode":
		return b.Mode
	case "session_id":
		return b.Session
	case "approval":
		return b.Approval
	case "product_name":
		return "Crystal"
	}
	return hostPlaceholder(name, b.Workspace)
}

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
