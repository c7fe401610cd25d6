package prompt

import (
	"context"
	"slices"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
)

// Binding describes the template in which a placeholder is resolved. What the host does not have yet is blank.
type Binding struct {
	Mode      string // work, plan, review, compaction or image
	Workspace string
	Session   string // thread id
	Approval  string
	Provider  string
	Model     string

	// Environment is what the host has loaded. It is empty before the host has attached its catalogs for the first time.
	Environment host.Environment
	// Facts tells which models the host uses, as it is at each read. The host sets it; it is never nil in Resolve.
	Facts model.Facts
}

// Placeholder adds a {{name}} token. Resolve is called at every binding of a template that holds the token; the text goes
// in as it is and is not expanded again; an empty text is a value. A failure leaves the token. At most 64 KiB. Calls may
// overlap.
type Placeholder interface {
	// Name matches ^[A-Za-z][A-Za-z0-9_]{0,63}$, and is compared ignoring case. It is read once, at the add.
	Name() string
	Resolve(ctx context.Context, b Binding) (string, error)
}

// PlaceholderFunc makes a placeholder of a function.
func PlaceholderFunc(name string, resolve func(ctx context.Context, b Binding) (string, error)) Placeholder {
	return placeholderFunc{name, resolve}
}

type placeholderFunc struct {
	name    string
	resolve func(context.Context, Binding) (string, error)
}

func (p placeholderFunc) Name() string { return p.name }
func (p placeholderFunc) Resolve(ctx context.Context, b Binding) (string, error) {
	return p.resolve(ctx, b)
}

var hostPlaceholders = []string{
	"approval", "architecture", "classification_summary", "conversation", "date", "env", "git_root", "host_authority",
	"host_risk", "instructions", "instructions_section", "is_git_repo", "mode", "model", "model_line", "os",
	"output_template", "platform", "prior_summary_section", "product_name", "provider", "question", "session_id",
	"skills", "summary_task", "time", "todos_section", "tool_arguments", "tool_name", "workspace",
}

// HostPlaceholders returns the names that the host owns, sorted.
func HostPlaceholders() []string { return slices.Clone(hostPlaceholders) }

// Placeholders is the point prompt.placeholder.
var Placeholders = contrib.Define(contrib.Spec[Placeholder]{
	Name: "prompt.placeholder", Doc: "Adds a {{name}} token to prompt templates.",
	Tiers: contrib.TierA, Scopes: contrib.WorkspaceOnly,
	Evaluation: contrib.PerCall, Failure: contrib.Keep, Deadline: 10 * time.Second,
	Describe: describePlaceholder,
	Guard:    guardPlaceholder,
})
