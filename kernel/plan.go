package kernel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/tool"
)

// plan is what a thread keeps from turn to turn: it is made again when something that it was made from has changed. The
// turn that runs owns it.
type plan struct {
	request   model.ClientRequest
	base      model.Client // client of request
	protocols uint64       // revision of model.protocol that base was made at
	clients   int          // how many clients were made

	pipeline    model.Client // base behind the middlewares
	middlewares uint64       // revision that pipeline was made at
	wrapped     int          // the number of the client that pipeline wraps

	toolPlan

	contexts        []source // providers of agent.context
	builtin         agent.Provider
	contextRevision uint64
	contextMode     string
	contextTools    *toolset.Snapshot

	prompt       string // the last composed prompt, so that an equal one shares its memory
	promptTokens int    // its estimate
	modelName    string // provider/model
}

// toolPlan is what came of a planning pass.
type toolPlan struct {
	tools        *toolset.Snapshot
	inputs       planInputs
	names        []string // names of the tools that the model sees, in its order
	tokens       int      // estimate of the tool definitions
	deferred     string   // what the prompt says about deferred tools
	namespaces   []string // of deferred tools
	profiles     []string // of subagents that can be started
	subagents    string   // what the prompt says about them
	fixed        bool     // every source always answers the same
	offered      []contrib.Entry[tool.Source]
	sources      uint64
	restrictions uint64
}

// serves reports whether a pass over the same sources would come to the same tools.
func (p *toolPlan) serves(in planInputs, offered []contrib.Entry[tool.Source], sources, restrictions uint64) bool {
	return p.tools != nil && p.fixed && p.inputs == in && p.sources == sources && p.restrictions == restrictions &&
		len(p.offered) == len(offered) && (len(offered) == 0 || &p.offered[0] == &offered[0])
}

// planInputs is what a planning pass depends on beside the points.
type planInputs struct {
	kind                                      model.PipelineKind
	profile, workspace, mode, provider, model string
	images                                    bool
	runtimes                                  runtimes
}

// runtimes are the entries of subagent.runtime, whose profiles the tool task offers.
type runtimes struct {
	revision uint64
	first    *contrib.Entry[subagent.Source] // of the list
	count    int
}

func runtimesOf(v *contrib.View, thread contrib.ThreadID) runtimes {
	r := runtimes{revision: subagent.Runtimes.Revision(v)}
	if list := subagent.Runtimes.Entries(v, thread); len(list) > 0 {
		r.first, r.count = &list[0], len(list)
	}
	return r
}

// prepareClient finds the model of the turn, and makes a client when the last one does not serve.
func (p *plan) prepareClient(ctx context.Context, t *turn) error {
	r, err := t.kernel.models.Resolve(ctx, t.ref)
	if err != nil {
		return fmt.Errorf("kernel: choose a model: %w", err)
	}
	revision := model.Protocols.Revision(t.kernel.registry.View())
	if p.base != nil && p.protocols == revision && sameClient(&p.request, &r) {
		return nil
	}
	client, err := t.kernel.client(ctx, r)
	if err != nil {
		return err
	}
	p.base, p.request, p.protocols, p.modelName = client, r, revision, r.Provider+"/"+r.Model
	p.clients++
	return nil
}

// sameClient reports whether one client serves both.
func sameClient(x, y *model.ClientRequest) bool {
	return x.Protocol == y.Protocol && x.Provider == y.Provider && x.Model == y.Model && x.BaseURL == y.BaseURL &&
		x.Key == y.Key && x.Organization == y.Organization && x.Project == y.Project && x.MaxTokens == y.MaxTokens &&
		x.MaxTokensField == y.MaxTokensField && x.ContextWindow == y.ContextWindow && x.ReplayReasoning == y.ReplayReasoning &&
		x.StreamUsage == y.StreamUsage && x.AdaptiveThinking == y.AdaptiveThinking && x.ImageInput == y.ImageInput &&
		x.AudioInput == y.AudioInput && x.VideoInput == y.VideoInput && x.KeyRequired == y.KeyRequired &&
		x.RequestTimeout == y.RequestTimeout && x.IdleTimeout == y.IdleTimeout && x.Scenario == y.Scenario &&
		equal(x.Temperature, y.Temperature) && equal(x.TopP, y.TopP) && maps.Equal(x.Headers, y.Headers)
}

func equal(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// preparePipeline folds the middlewares around the client.
func (p *plan) preparePipeline(ctx context.Context, t *turn) error {
	revision := model.Middlewares.Revision(t.view)
	if p.pipeline != nil && p.middlewares == revision && p.wrapped == p.clients {
		return nil
	}
	client, err := pipeline(ctx, t.view, p.base, &p.request, t.thread, t.report)
	if err != nil {
		return err
	}
	p.pipeline, p.wrapped, p.middlewares = client, p.clients, revision
	return nil
}

// pipeline folds the middlewares of a thread around a client, from the last to the first, so that the lowest order is
// outermost. One that fails is left out. The error is that of ctx.
func pipeline(
	ctx context.Context, v *contrib.View, base model.Client, r *model.ClientRequest, th *Thread, report contrib.Report,
) (model.Client, error) {
	entries := model.Middlewares.Entries(v, contrib.ThreadID(th.id))
	info := model.PipelineInfo{Kind: th.kind(), Thread: th.id, Provider: r.Provider, Model: r.Model}
	return contrib.Fold(ctx, entries, base, func(ctx context.Context, m model.Middleware, next model.Client) (model.Client, error) {
		c, err := m.Wrap(ctx, next, info)
		if err == nil && c == nil {
			err = errNoClient
		}
		return c, err
	}, report, contrib.Backwards)
}

var errNoClient = errors.New("kernel: the middleware returned no client")

// prepareTools runs a planning pass, unless every source is known to answer what it answered before.
func (p *plan) prepareTools(ctx context.Context, t *turn) error {
	th := t.thread
	inputs := planInputs{
		kind: th.kind(), profile: th.agent(), workspace: th.workspace, mode: t.mode, provider: p.request.Provider, model: p.request.Model,
		images: p.request.ImageInput, runtimes: runtimesOf(t.view, contrib.ThreadID(th.id)),
	}
	sources, restrictions := tool.Sources.Revision(t.view), tool.Restrictions.Revision(t.view)
	id := contrib.ThreadID(th.id)
	entries, edits := tool.Sources.Entries(t.view, id), tool.Restrictions.Entries(t.view, id)
	if p.serves(inputs, entries, sources, restrictions) {
		return nil
	}
	k := t.kernel
	if last := k.planned.Load(); last != nil && t.explain == nil && len(edits) == 0 && last.serves(inputs, entries, sources, restrictions) {
		p.toolPlan = *last // what another thread planned
		return nil
	}
	catalog := tool.CatalogWork
	if t.mode == ModePlan {
		catalog = tool.CatalogPlan
	}
	search := searchTool
	if th.child != nil {
		search = nil // nobody would add to its list what it finds
	}
	reserved := append(slices.Clip(k.config.ReservedTools), SearchTool) // nobody else gets its name, offered or not
	if th.child != nil {
		reserved = append(reserved, TaskTool)
	}
	snapshot, diagnostics, err := toolset.Plan(context.WithValue(ctx, viewKey{}, t.view), toolset.Inputs{
		Sources:      entries,
		Restrictions: edits,
		Planning: tool.Planning{
			Thread: th.id, Turn: t.id, ThreadKind: string(th.kind()), Workspace: th.workspace, Catalog: catalog,
			Provider: p.request.Provider, Model: p.request.Model, Images: p.request.ImageInput, Revision: sources,
		},
		Report:   t.report,
		Reserved: reserved,
		Only:     th.tools(),
		Search:   search,
		Trace:    t.explain.tools(),
	})
	if err != nil {
		return fmt.Errorf("kernel: plan the tools of the turn: %w", err)
	}
	for _, d := range diagnostics {
		d.Time = time.Now()
		t.diagnose(d)
	}
	p.toolPlan = toolPlan{
		tools: snapshot, inputs: inputs, names: make([]string, 0, len(snapshot.Models())), tokens: estimate.Tools(snapshot.Models()),
		fixed: fixed(entries), offered: entries, sources: sources, restrictions: restrictions,
	}
	for _, m := range snapshot.Models() {
		p.names = append(p.names, m.Name)
	}
	if th.child == nil {
		p.deferred, p.namespaces = deferredText(snapshot)
		if one, exact := snapshot.ByCanonical(TaskTool); exact && one.Definition.Key.Kind == tool.OwnerBuiltin {
			list := k.profiles(t.view, th.id)
			for i := range list {
				p.profiles = append(p.profiles, list[i].Name)
			}
			p.subagents = profilesText(list)
		}
	}
	if p.fixed && len(edits) == 0 && len(diagnostics) == 0 && !fromPlugins(entries) {
		own := p.toolPlan
		k.planned.Store(&own)
	}
	return nil
}

// fromPlugins reports whether a plugin is among the sources: its tools are bound to the thread that they were planned for.
func fromPlugins(entries []contrib.Entry[tool.Source]) bool {
	return slices.ContainsFunc(entries, func(e contrib.Entry[tool.Source]) bool { return e.Origin.Kind() == "plugin" })
}

// fixed reports whether every source always answers the same.
func fixed(entries []contrib.Entry[tool.Source]) bool {
	for i := range entries {
		m, ok := entries[i].Meta.(tool.SourceMeta)
		if !ok || !m.Fixed {
			return false
		}
	}
	return true
}
