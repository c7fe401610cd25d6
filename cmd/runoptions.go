package crystalcmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crystalkernel/crystal/internal/home"
)

// runOptions are the options of a headless run as they were typed.
type runOptions struct {
	print                                 string
	provider, model                       string
	cont                                  bool
	resume                                string
	approval                              string
	yes                                   bool
	review, reviewProvider, reviewModel   string
	reviewThinking                        string
	plan, work                            bool
	thinking                              string
	promptSet                             string
	attachments, skills, tools, discovery string
	plugins, noPlugins                    []string
	trust                                 string
	modelCalls, toolCalls                 string
	duration, bashTimeout                 string
	showThinking, quiet                   bool
	format, outputFormat                  string
	json                                  bool
	noStdin                               bool
	trace                                 string
}

func (p *program) addRunOptions(f *pflag.FlagSet, o *runOptions) {
	f.StringVarP(&o.model, "model", "m", "", "provider/model, or a model of --provider")
	f.StringVar(&o.provider, "provider", "", "provider")
	f.BoolVarP(&o.cont, "continue", "c", false, "go on with the newest thread of the workspace")
	f.StringVarP(&o.resume, "resume", "r", "", "go on with this thread: its id or a prefix of it")
	f.StringVar(&o.approval, "approval", "", "approval mode: "+list(home.ApprovalModes))
	f.BoolVarP(&o.yes, "yes", "y", false, "the same as --approval full")
	f.StringVar(&o.review, "approval-model", "", "on or off: review by a model of its own")
	f.StringVar(&o.reviewProvider, "approval-provider", "", "provider of that model")
	f.StringVar(&o.reviewModel, "approval-model-id", "", "name of that model")
	f.StringVar(&o.reviewThinking, "approval-thinking", "", "thinking gear of that model")
	f.BoolVar(&o.plan, "plan", false, "turn in plan mode")
	f.BoolVar(&o.work, "work", false, "turn in work mode")
	f.StringVar(&o.thinking, "thinking", "", "thinking gear: "+list(home.Gears)+", or a token budget")
	f.StringVar(&o.promptSet, "prompt-set", "", "prompt set")
	f.StringVar(&o.attachments, "prompt-attachments", "", "on or off")
	f.StringVar(&o.skills, "skills", "", "on or off")
	f.StringVar(&o.tools, "external-tools", "", "on or off")
	f.StringVar(&o.discovery, "plugins", "", "on or off: discovery of plugins")
	f.StringArrayVar(&o.plugins, "plugin", nil, "switch this plugin on; may be repeated")
	f.StringArrayVar(&o.noPlugins, "no-plugin", nil, "switch this plugin off; may be repeated")
	f.StringVar(&o.trust, "workspace-trust", "", "on or off: give the project tree force in this process, or ignore it")
	f.StringVar(&o.modelCalls, "model-calls", "", "largest number of model rounds, or unlimited")
	f.StringVar(&o.toolCalls, "tool-calls", "", "largest number of tool calls, or unlimited")
	f.StringVar(&o.duration, "duration", "", "longest time of the turn, such as 20m, or unlimited")
	f.StringVar(&o.bashTimeout, "bash-timeout", "", "longest time of one bash call, or unlimited")
	f.BoolVar(&o.showThinking, "show-thinking", false, "print reasoning")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print the reply of the last round alone")
	f.StringVar(&o.format, "format", "", "default or json")
	f.StringVar(&o.outputFormat, "output-format", "", "text or stream-json: the same two")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.BoolVar(&o.noStdin, "no-stdin", false, "do not read stdin")
	f.StringVar(&o.trace, "trace", "", "append every event, with its time, to this file as a line of JSON (up to 256 MiB)")
}

func (p *program) runCommand() *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use: "run [task]", Short: "Run one turn without an operator",
		Long: "Run one turn without an operator. The task is the arguments, or comes over stdin; with both, stdin is appended.\n" +
			"What would ask somebody is denied.",
		RunE: func(c *cobra.Command, args []string) error { return p.runTask(c, args, &o) },
	}
	p.addRunOptions(c.Flags(), &o)
	return c
}

// runSettings are the options of a run, checked.
type runSettings struct {
	json        bool
	wanted      home.Wanted
	approval    string // blank: the configuration's
	mode        string // blank: the thread's, or the configuration's
	thinking    string
	discovery   *bool
	attachments *bool
	skills      *bool
	tools       *bool
	trust       *bool
	review      *bool
	switches    map[string]bool
	modelCalls  *int
	toolCalls   *int
	duration    *time.Duration
	bashTimeout *time.Duration
}

// check is step 1 of a run: options that need nothing but themselves.
func (o *runOptions) check(flags *pflag.FlagSet, safe bool) (s runSettings, err error) {
	if s.json, err = o.output(); err != nil {
		return s, err
	}
	if o.plan && o.work {
		return s, fmt.Errorf("--plan and --work exclude each other")
	}
	if o.cont && flags.Changed("resume") {
		return s, fmt.Errorf("--continue and --resume exclude each other")
	}
	if s.approval, err = o.approvalMode(); err != nil {
		return s, err
	}
	switch {
	case o.plan:
		s.mode = "plan"
	case o.work:
		s.mode = "work"
	}
	if s.thinking = strings.ToLower(o.thinking); flags.Changed("thinking") && !home.ValidGear(s.thinking) {
		return s, fmt.Errorf("unknown gear %q for --thinking; use %s, or a token budget such as 8192", o.thinking, list(home.Gears))
	}
	for _, sw := range []struct {
		name  string
		value string
		into  **bool
	}{
		{"plugins", o.discovery, &s.discovery},
		{"prompt-attachments", o.attachments, &s.attachments},
		{"skills", o.skills, &s.skills},
		{"external-tools", o.tools, &s.tools},
		{"workspace-trust", o.trust, &s.trust},
		{"approval-model", o.review, &s.review},
	} {
		if !flags.Changed(sw.name) {
			continue
		}
		if *sw.into, err = onOff(sw.name, sw.value); err != nil {
			return s, err
		}
	}
	if s.review != nil && !*s.review && (o.reviewProvider != "" || o.reviewModel != "") {
		return s, fmt.Errorf("--approval-model off excludes --approval-provider and --approval-model-id")
	}
	if flags.Changed("trace") && strings.TrimSpace(o.trace) == "" {
		return s, fmt.Errorf("--trace needs the name of a file")
	}
	if s.switches, err = o.pluginSwitches(safe); err != nil {
		return s, err
	}
	s.wanted = home.Wanted{Provider: o.provider, Model: o.model}
	return s, o.counters(flags, &s)
}

// output finds the format.
func (o *runOptions) output() (json bool, err error) {
	switch o.format {
	case "", "default":
	case "json":
		json = true
	default:
		return false, fmt.Errorf("unknown format %q; use default or json", o.format)
	}
	switch o.outputFormat {
	case "", "text":
	case "stream-json":
		json = true
	default:
		return false, fmt.Errorf("unknown output format %q; use text or stream-json", o.outputFormat)
	}
	return json || o.json, nil
}

func (o *runOptions) approvalMode() (string, error) {
	switch {
	case o.yes && o.approval != "" && o.approval != "full":
		return "", fmt.Errorf("-y means --approval full; it excludes --approval %s", o.approval)
	case o.yes:
		return "full", nil
	case o.approval != "" && !slices.Contains(home.ApprovalModes, o.approval):
		return "", fmt.Errorf("unknown approval mode %q; use %s", o.approval, list(home.ApprovalModes))
	}
	return o.approval, nil
}

func onOff(name, value string) (*bool, error) {
	on := value == "on"
	if !on && value != "off" {
		return nil, fmt.Errorf("--%s is on or off, not %q", name, value)
	}
	return &on, nil
}

// pluginSwitches joins --plugin and --no-plugin.
func (o *runOptions) pluginSwitches(safe bool) (map[string]bool, error) {
	if safe && len(o.plugins) > 0 {
		return nil, fmt.Errorf("--plugin has no force in safe mode; leave one of the two out")
	}
	out := make(map[string]bool)
	for _, id := range o.plugins {
		out[strings.ToLower(id)] = true
	}
	for _, id := range o.noPlugins {
		if id = strings.ToLower(id); out[id] {
			return nil, fmt.Errorf("--plugin and --no-plugin both name %s", id)
		}
		out[id] = false
	}
	return out, nil
}

// counters reads the limits.
func (o *runOptions) counters(flags *pflag.FlagSet, s *runSettings) (err error) {
	if flags.Changed("model-calls") {
		if s.modelCalls, err = count("model-calls", o.modelCalls, 1); err != nil {
			return err
		}
	}
	if flags.Changed("tool-calls") {
		if s.toolCalls, err = count("tool-calls", o.toolCalls, 0); err != nil {
			return err
		}
	}
	if flags.Changed("duration") {
		if s.duration, err = duration("duration", o.duration); err != nil {
			return err
		}
	}
	if flags.Changed("bash-timeout") {
		s.bashTimeout, err = duration("bash-timeout", o.bashTimeout)
	}
	return err
}

const unlimited = "unlimited"

func count(name, text string, low int) (*int, error) {
	n := home.Unlimited
	if text == unlimited {
		return &n, nil
	}
	for _, r := range text {
		if r < '0' || r > '9' {
			return nil, fmt.Errorf("--%s takes decimal digits or unlimited, not %q", name, text)
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low {
		return nil, fmt.Errorf("--%s takes a number of %d or more, or unlimited, not %q", name, low, text)
	}
	return &n, nil
}

func duration(name, text string) (*time.Duration, error) {
	d := time.Duration(home.Unlimited)
	if text == unlimited {
		return &d, nil
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return nil, fmt.Errorf("--%s needs a unit: %ss or %sm, not %s", name, text, text, text)
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second {
		return nil, fmt.Errorf("--%s takes a duration of 1s or more with a unit, such as 90s or 20m, or unlimited, not %q", name, text)
	}
	return &d, nil
}
