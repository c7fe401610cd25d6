package home

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// Words of config.json.
var (
	Modes         = []string{"work", "plan"}
	ApprovalModes = []string{"default", "edit", "review", "audit", "full"}
	logLevels     = []string{"debug", "info", "warn", "error"}
	policyOwners  = []string{"author", "host"}
)

// projectForbidden are the keys that have no force in the file of a project.
var projectForbidden = []string{
	"approval", "approvalModel", "externalApproval", "plugins", "skillDirectories", "instructionFiles", "promptSet",
	"retry", "customStatusLine", "statusLine", "log",
}

// layer applies one config.json to a configuration.
type layer struct {
	c       *Config
	project bool
	file    string
	notes   *[]Note
}

// report turns a problem of the file into a note.
func (l layer) report(p jsonc.Problem) {
	*l.notes = append(*l.notes, problemNote(l.file, p))
}

func problemNote(file string, p jsonc.Problem) Note {
	code := ConfigValueInvalid
	if p.Kind == jsonc.UnknownKey {
		code = ConfigUnknownKey
	}
	n := warning(code, file+": "+p.String())
	if p.Kind == jsonc.BadValue {
		n.Fix = fmt.Sprintf("set %q to %s, or remove it", p.Path, p.Allowed)
	}
	return n
}

// apply takes every key of the file.
func (l layer) apply(o *jsonc.Object) {
	f := o.Fields(l.report)
	f.Known("$schema")
	if l.project {
		l.refuse(f, o)
	}
	l.model(f)
	if v, ok := f.Text("thinking"); ok {
		if ValidGear(v) {
			l.c.Thinking = strings.ToLower(v)
		} else {
			f.Bad("thinking", `a gear such as "default", "off" or "high", or a token budget such as "8192"`)
		}
	}
	set(&l.c.Mode)(f.OneOf("mode", Modes...))
	if ids, ok := f.TextsThat("disabledPlugins", validPluginID, "a plugin id"); ok {
		l.disable(ids)
	}
	l.switchOff(f, "externalTools", &l.c.ExternalTools)
	l.switchOff(f, "skills", &l.c.Skills)
	l.switchOff(f, "instructions", &l.c.Instructions)
	l.switchOff(f, "promptAttachments", &l.c.PromptAttachments)
	if inner, ok := f.Object("limits"); ok {
		l.limits(inner)
	}
	if inner, ok := f.Object("compaction"); ok {
		g := inner.Fields(l.report)
		set(&l.c.Compaction.Enabled)(g.Bool("enabled"))
		set(&l.c.Compaction.Threshold)(g.Number("threshold",
			func(x float64) bool { return x > 0 && x <= 1 }, "a number above 0, up to 1"))
		g.Done()
	}
	if !l.project {
		l.homeOnly(f)
	}
	f.Done()
}

// refuse notes the keys that a project may not set.
func (l layer) refuse(f *jsonc.Fields, o *jsonc.Object) {
	f.Known(projectForbidden...)
	for _, key := range o.Keys() {
		if slices.Contains(projectForbidden, key) {
			n := warning(ConfigProjectKeyIgnored, fmt.Sprintf("%s: a project may not set %q; it is ignored", l.file, key))
			n.Fix = "set it in config.json of the home directory"
			*l.notes = append(*l.notes, n)
		}
	}
}

// model takes provider and model. A layer that changes the provider alone leaves no model of another one behind.
func (l layer) model(f *jsonc.Fields) {
	provider, hasProvider := f.Text("provider")
	model, hasModel := f.Text("model")
	if hasModel && !hasProvider {
		if before, after, ok := strings.Cut(model, "/"); ok && before != "" && after != "" {
			provider, model, hasProvider = before, after, true
		}
	}
	if hasProvider && provider != l.c.Provider {
		l.c.Provider, l.c.Model = provider, ""
	}
	if hasModel {
		l.c.Model = model
	}
}

// disable adds ids to the disabled plugins.
func (l layer) disable(ids []string) {
	for _, id := range ids {
		if id = strings.ToLower(id); !slices.Contains(l.c.DisabledPlugins, id) {
			l.c.DisabledPlugins = append(l.c.DisabledPlugins, id)
		}
	}
}

// switchOff takes a switch that a project may only turn off.
func (l layer) switchOff(f *jsonc.Fields, key string, dst *bool) {
	v, ok := f.Bool(key)
	switch {
	case !ok:
	case v && l.project:
		f.Bad(key, "false, because a project can restrict and never widen")
	default:
		*dst = v
	}
}

func (l layer) limits(o *jsonc.Object) {
	f := o.Fields(l.report)
	count := func(key string, low int, dst *int) {
		if v, ok := f.Count(key, low); ok && l.lower(f, key, limitOf(v), limitOf(*dst)) {
			*dst = v
		}
	}
	duration := func(key string, dst *time.Duration) {
		if v, ok := f.DurationOrUnlimited(key); ok && l.lower(f, key, limitOf(v), limitOf(*dst)) {
			*dst = v
		}
	}
	count("modelCalls", 1, &l.c.Limits.ModelCalls)
	count("toolCalls", 0, &l.c.Limits.ToolCalls)
	duration("turnDuration", &l.c.Limits.TurnDuration)
	duration("bashTimeout", &l.c.Limits.BashTimeout)
	if v, ok := f.Integer("toolOutput", 1000, 1_000_000); ok && l.lower(f, "toolOutput", int64(v), int64(l.c.Limits.ToolOutput)) {
		l.c.Limits.ToolOutput = v
	}
	f.Done()
}

// limitOf puts no limit above every limit.
func limitOf[T ~int | ~int64](v T) int64 {
	if v < 0 {
		return math.MaxInt64
	}
	return int64(v)
}

// lower reports whether a limit may be set: a project only ever lowers one.
func (l layer) lower(f *jsonc.Fields, key string, value, limit int64) bool {
	if l.project && value > limit {
		f.Bad(key, "what is not above the limit of the home directory, because a project can restrict and never widen")
		return false
	}
	return true
}

// homeOnly takes the keys that a project may not set.
func (l layer) homeOnly(f *jsonc.Fields) {
	set(&l.c.Approval)(f.OneOf("approval", ApprovalModes...))
	if o, ok := f.Object("approvalModel"); ok {
		g := o.Fields(l.report)
		set(&l.c.ApprovalModel.Enabled)(g.Bool("enabled"))
		set(&l.c.ApprovalModel.Provider)(g.Text("provider"))
		set(&l.c.ApprovalModel.Model)(g.Text("model"))
		if v, ok := g.Text("thinkingEffort"); ok {
			if ValidGear(v) {
				l.c.ApprovalModel.ThinkingEffort = strings.ToLower(v)
			} else {
				g.Bad("thinkingEffort", "a gear")
			}
		}
		g.Done()
	}
	if o, ok := f.Object("externalApproval"); ok {
		g := o.Fields(l.report)
		set(&l.c.ExternalApproval.Home)(g.OneOf("home", policyOwners...))
		set(&l.c.ExternalApproval.Project)(g.OneOf("project", policyOwners...))
		g.Done()
	}
	set(&l.c.Plugins)(f.Bool("plugins"))
	set(&l.c.SkillDirectories)(f.Texts("skillDirectories"))
	set(&l.c.InstructionFiles)(f.Texts("instructionFiles"))
	set(&l.c.PromptSet)(f.Text("promptSet"))
	if o, ok := f.Object("retry"); ok {
		g := o.Fields(l.report)
		set(&l.c.Retry.Attempts)(g.Integer("attempts", 0, 20))
		set(&l.c.Retry.BaseDelay)(g.Duration("baseDelay"))
		set(&l.c.Retry.MaxDelay)(g.Duration("maxDelay"))
		set(&l.c.Retry.MaxRetryAfter)(g.Duration("maxRetryAfter"))
		g.Done()
	}
	set(&l.c.CustomStatusLine)(f.Bool("customStatusLine"))
	set(&l.c.StatusLine)(f.Texts("statusLine"))
	if o, ok := f.Object("log"); ok {
		g := o.Fields(l.report)
		set(&l.c.LogLevel)(g.OneOf("level", logLevels...))
		g.Done()
	}
}

// set returns a function that stores a value when it is there.
func set[T any](dst *T) func(T, bool) {
	return func(v T, ok bool) {
		if ok {
			*dst = v
		}
	}
}

func validPluginID(id string) bool { return deps.ValidID(strings.ToLower(id)) }
