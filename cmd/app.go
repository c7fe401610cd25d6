package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/cmd/stock"
	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/internal/exectool"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/internal/tracefile"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/retry"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

// blueprint is what a host is built from.
type blueprint struct {
	place    *place
	config   home.Config
	switches map[string]bool // plugins that the command line switches
	client   string          // what the prompt sees as the client
	models   kernel.Models   // nil: the choice of the configuration
	trace    *tracefile.Sink // for the events; nil: none
}

// host is a running host.
type host struct {
	kernel   *kernel.Kernel
	plugins  *plugins.Runtime
	registry *contrib.Registry
	status   *statusline.Store
	notes    []home.Note // of discovery, activation and attaching
	rows     []home.Row  // the plugin directories
	sets     []home.ToolSetRow

	dirs      func(directory string) plugins.Directories // nil: plugins have no data directories
	directory map[string]string                          // of each plugin that has one
	log       *slog.Logger
	todos     todos // of the thread that is open

	app  *fx.App
	file *logFile
	back func()
}

// stopTime bounds the stop of a host: the plugins' own limits lie below it.
const stopTime = 45 * time.Second

// start builds a host and starts it: the built-in parts, then the plugins in load order.
func (p *program) start(ctx context.Context, b blueprint) (*host, error) {
	h := &host{file: newLogFile(b.place.home)}
	h.log = h.file.logger(b.config.LogLevel, p.options.debug)
	h.back = p.divert(h.file)
	list, options := p.pluginPlan(b, h)
	config := kernelConfig(b, h)
	config.Commands = p.hostCommands(b, h)
	sets := p.toolSets(b)
	h.sets, h.notes = sets.Rows, append(h.notes, sets.Notes...)
	h.app = fx.New(
		fx.NopLogger,
		fx.StartTimeout(24*time.Hour), // each activation has its own limit
		fx.StopTimeout(stopTime),
		kernel.Module, stock.Host, b.tracing(), b.external(h.sets), plugins.Module(list...),
		fx.Supply(h.log, options, approval.Config{Home: string(b.place.home)}, builtinConfig(b, &h.todos), retrySettings(b.config)),
		fx.Supply(modelaccess.Config{Review: b.reviewModel}),
		fx.Replace(config),
		fx.Decorate(func(kernel.Models) kernel.Models { return b.resolver() }),
		fx.Decorate(func(threadlog.Store) threadlog.Store { return threadlog.Disk(string(b.place.home)) }),
		fx.Populate(&h.kernel, &h.plugins, &h.registry, &h.status),
	)
	err := h.app.Err()
	if err == nil {
		err = h.app.Start(ctx)
	}
	if err == nil {
		h.notes = append(h.notes, h.problems()...)
		h.notes = append(h.notes, h.privileges()...)
		h.notes = append(h.notes, h.commandNotes()...)
		if err = h.attach(ctx, h.rows); err != nil {
			err = errors.Join(err, h.app.Stop(context.WithoutCancel(ctx)))
		}
		h.notes = append(h.notes, h.recorded()...)
	}
	if err != nil {
		h.log.Error("start", "error", err)
		h.release()
		return nil, errors.Join(fmt.Errorf("starting the host: %w", err), h.file.close())
	}
	return h, nil
}

// external offers the tools of external tool sets, if there are any.
func (b blueprint) external(sets []home.ToolSetRow) fx.Option {
	if !slices.ContainsFunc(sets, func(r home.ToolSetRow) bool { return r.Loaded() }) {
		return fx.Options()
	}
	return exectool.Module(exectool.Config{
		Sets: sets, Approval: b.config.ExternalApproval, Home: string(b.place.home),
	})
}

// tracing writes the events to a file, if there is one.
func (b blueprint) tracing() fx.Option {
	if b.trace == nil {
		return fx.Options()
	}
	return tracefile.Module(b.trace)
}

// stop stops a host: sessions, then plugins in reverse load order, then the log. What is printed goes to the program
// alone until release is called.
func (h *host) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	err := h.app.Stop(ctx)
	if err != nil {
		h.log.Error("stop", "error", err)
	}
	return errors.Join(err, h.file.close())
}

// release gives the process its standard output back.
func (h *host) release() { h.back() }

func kernelConfig(b blueprint, h *host) kernel.Config {
	l := b.config.Limits
	limits := kernel.Limits{ModelCalls: l.ModelCalls, ToolCalls: l.ToolCalls, Duration: l.TurnDuration, ToolOutput: l.ToolOutput}
	if l.ToolCalls == 0 {
		limits.ToolCalls = kernel.NoToolCalls
	}
	return kernel.Config{
		Home: string(b.place.home), Version: release, Client: b.client, Limits: limits,
		Threshold: b.config.Compaction.Threshold, NoCompaction: !b.config.Compaction.Enabled, Logger: h.log,
		ReservedTools: reservedTools, DataDirs: func(k tool.Key) tool.DataDirs { return h.toolData(b.place, k) },
	}
}

// reservedTools are the names of built-in tools, of those to come too: nobody else gets one, in no mode.
var reservedTools = []string{
	"read", "list", "glob", "grep", "edit", "write", "bash", "todowrite", "todoread", "question", kernel.TaskTool, kernel.SearchTool, "skill",
	"describe_image", "view_image",
}

// toolData names the data directories of the plugin or the external tool set that a tool belongs to.
func (h *host) toolData(pl *place, k tool.Key) tool.DataDirs {
	if _, directory, ok := strings.Cut(k.Owner, "/"); ok && k.Kind == tool.OwnerExternal {
		d := pl.data("tools", directory)
		return tool.DataDirs{Global: d.Home, Project: d.Workspace}
	}
	if k.Kind != tool.OwnerPlugin || h.dirs == nil {
		return tool.DataDirs{}
	}
	name := k.Owner
	if directory := h.directory[k.Owner]; directory != "" {
		name = directory
	}
	d := h.dirs(name)
	return tool.DataDirs{Global: d.Home, Project: d.Workspace}
}

func builtinConfig(b blueprint, t builtin.Todos) builtin.Config {
	c := builtin.Config{Home: string(b.place.home), BashTimeout: b.config.Limits.BashTimeout, Todos: t}
	if c.BashTimeout < 0 {
		c.BashTimeout = noLimit
	}
	return c
}

// noLimit is longer than any process lives.
const noLimit = 100 * 365 * 24 * time.Hour

func retrySettings(c home.Config) retry.Settings {
	return retry.Settings{
		Attempts: c.Retry.Attempts, BaseDelay: c.Retry.BaseDelay, MaxDelay: c.Retry.MaxDelay, MaxServerWait: c.Retry.MaxRetryAfter,
	}
}

// resolver says how to reach the models of the settings.
func (b blueprint) resolver() kernel.Models {
	if b.models != nil {
		return b.models
	}
	return kernel.ModelsFunc(func(_ context.Context, ref string) (model.ClientRequest, error) {
		choice, err := b.place.settings.Choose(home.Wanted{Model: ref}, home.Wanted{})
		if err != nil {
			return model.ClientRequest{}, err
		}
		return clientRequest(b.place, choice)
	})
}

// clientRequest is what the client of a model is made from.
func clientRequest(pl *place, c home.Choice) (model.ClientRequest, error) {
	key, err := pl.settings.Key(c.Provider)
	if err != nil {
		return model.ClientRequest{}, err
	}
	p, m := c.Provider, c.Entry
	limit := func(d time.Duration) time.Duration { return max(d, 0) }
	scenario := p.Scenario
	if scenario != "" && !filepath.IsAbs(scenario) {
		scenario = pl.home.Path(scenario)
	}
	return model.ClientRequest{
		Protocol: p.Protocol, Provider: p.Name, Model: c.Model, BaseURL: p.BaseURL, Key: key.Reveal(), KeyRequired: p.RequiresKey,
		Organization: p.Organization, Project: p.Project, Headers: p.Headers,
		Temperature: m.Temperature, TopP: m.TopP, MaxTokens: m.MaxTokens, MaxTokensField: m.MaxTokensField,
		ContextWindow: m.ContextWindow, ReplayReasoning: m.ReplayReasoning, StreamUsage: m.StreamUsage,
		AdaptiveThinking: m.AdaptiveThinking, ImageInput: m.ImageInput, AudioInput: m.AudioInput, VideoInput: m.VideoInput,
		RequestTimeout: limit(p.RequestTimeout), IdleTimeout: limit(p.IdleTimeout), Scenario: scenario,
	}, nil
}

// pluginPlan decides which plugins the runtime gets and what the files say about them. Nothing below the plugin
// directories is opened when discovery is off and no plugin is switched on by hand.
func (p *program) pluginPlan(b blueprint, h *host) ([]plugins.Plugin, plugins.Options) {
	o := plugins.Options{HostVersion: release, Logger: h.log, Switches: b.switches}
	if p.safe() {
		return nil, o
	}
	list, conflicts := p.compiled()
	h.notes = append(h.notes, conflicts...)
	on := b.config.Plugins
	asked := slices.Contains(values(b.switches), true)
	if !on && !asked {
		// No plugin of any source is activated, and nothing is said about it.
		return nil, o
	}
	found := home.Discover(b.place.home, b.place.tree, p.known())
	h.rows = found.Rows
	in := plugins.Inputs{
		Placements: found.Placements, Disabled: slices.Clone(b.config.DisabledPlugins),
		Home:      settingsLayer(b.place.home.Path(home.PluginSettingsFile)),
		Workspace: settingsLayer(treeFile(b.place.tree, home.PluginSettingsFile)),
	}
	if on {
		h.notes = append(h.notes, found.Notes...)
	} else {
		for _, one := range list {
			in.Disabled = append(in.Disabled, one.ID)
		}
	}
	o.Inputs = func(context.Context) (plugins.Inputs, error) { return in, nil }
	h.directory = make(map[string]string)
	for _, one := range found.Placements {
		h.directory[one.ID] = one.Directory
	}
	h.dirs = func(directory string) plugins.Directories { return b.place.data("plugins", directory) }
	o.DataDirs = h.dirs
	return list, o
}

// data names the data directories of one plugin or one external tool set.
func (pl *place) data(catalog, directory string) plugins.Directories {
	d := plugins.Directories{Home: pl.home.Path("data", catalog, directory)}
	if project := pl.workspace.Project; project != "" && pl.projectWritable() {
		d.Workspace = filepath.Join(project, "data", catalog, directory)
	}
	return d
}

// projectWritable reports whether the host may write into the project tree: it is there and trusted, or it is not there
// yet.
func (pl *place) projectWritable() bool { return pl.tree != "" || pl.workspace.Tree == "" }

// compiled returns the plugins of the program, each id once.
func (p *program) compiled() (list []plugins.Plugin, notes []home.Note) {
	seen := make(map[string]bool)
	for _, one := range p.list {
		if seen[one.ID] {
			notes = append(notes, home.Note{
				Code: home.Code(plugins.PluginIdConflict), Severity: home.Warning, Plugin: one.ID,
				Text: fmt.Sprintf("the plugin %s is compiled in twice; the first one counts", one.ID), Fix: "list it once in the host's main function",
			}.Cleaned())
			continue
		}
		seen[one.ID] = true
		list = append(list, one)
	}
	return list, notes
}

func values(m map[string]bool) []bool {
	out := make([]bool, 0, len(m))
	for _, v := range m {
		out = append(out, v)
	}
	return out
}

// treeFile names a file of the project tree; blank when there is none that has force.
func treeFile(tree, name string) string {
	if tree == "" {
		return ""
	}
	return filepath.Join(tree, name)
}

// settingsLayer reads a settings document; a missing one says nothing.
func settingsLayer(path string) plugins.SettingsLayer {
	if path == "" {
		return plugins.SettingsLayer{}
	}
	o, err := jsonc.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return plugins.SettingsLayer{}
	}
	if err != nil {
		return plugins.SettingsLayer{Err: err}
	}
	layer := plugins.SettingsLayer{Plugins: make(map[string]map[string]any)}
	for _, id := range o.Keys() {
		if _, ok := o.Object(id); !ok {
			if id != "$schema" {
				layer.Err = fmt.Errorf("%s: the settings of %q are not an object", path, id)
			}
			continue
		}
		if layer.Plugins[id], err = o.Decode(id); err != nil {
			layer.Err = err
		}
	}
	return layer
}
