package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel/threadlog"
)

// globalOptions are the options of every verb.
type globalOptions struct {
	home      string
	workspace string
	safeMode  bool
	debug     bool
	noColor   bool
}

// root makes the command tree. Making it reads nothing.
func (p *program) root() *cobra.Command {
	var task runOptions
	root := &cobra.Command{
		Use:   "crystal",
		Short: "An agent kernel in which every part is a contribution",
		Args:  noVerb,
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("print") {
				return c.Help()
			}
			return p.runTask(c, append([]string{task.print}, args...), &task)
		},
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.Args = func(c *cobra.Command, args []string) error {
		if c.Flags().Changed("print") {
			return nil
		}
		return noVerb(c, args)
	}
	f := root.PersistentFlags()
	f.StringVar(&p.options.home, "home", "", "home directory")
	f.StringVarP(&p.options.workspace, "workspace", "C", "", "workspace (default: the working directory)")
	f.BoolVar(&p.options.safeMode, "safe-mode", false, "start without plugins and without the project tree")
	f.BoolVarP(&p.options.debug, "debug", "d", false, "debug level in the log file")
	f.BoolVar(&p.options.noColor, "no-color", false, "no colours")
	var version bool
	root.Flags().BoolVar(&version, "version", false, "print the version")
	root.Flags().StringVarP(&task.print, "print", "p", "", "run one turn on this task, as crystal run does")
	p.addRunOptions(root.Flags(), &task)
	root.PreRunE = func(c *cobra.Command, args []string) error {
		if version {
			c.RunE = func(*cobra.Command, []string) error { return p.version(task.json) }
		}
		return nil
	}
	root.SetFlagErrorFunc(p.flagError)
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.AddCommand(p.runCommand(), p.threadsCommand(), p.pluginsCommand(), p.toolsCommand(), p.pointsCommand(), p.promptCommand(),
		p.explainCommand(), p.modelsCommand(), p.doctorCommand(), p.codesCommand(), p.versionCommand(), reserved("build"))
	return root
}

// noVerb refuses an argument where a verb belongs.
func noVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var verbs []string
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			verbs = append(verbs, sub.Name())
		}
	}
	return fmt.Errorf("unknown verb %q of %s; %s", args[0], c.CommandPath(), meant(args[0], verbs))
}

// meant names the nearest known word, or all of them.
func meant(word string, known []string) string {
	if near := jsonc.Near(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "known are " + strings.Join(known, ", ")
}

// flagError explains an option that can't be parsed.
func (p *program) flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		name := unknown.GetSpecifiedName()
		dashes := "--"
		if unknown.GetSpecifiedShortnames() != "" {
			dashes = "-"
		}
		hint := "see " + c.CommandPath() + " --help"
		if near := jsonc.Near(name, names); near != "" && dashes == "--" {
			hint = fmt.Sprintf("did you mean --%s?", near)
		}
		return fmt.Errorf("unknown option %s%s of %s; %s", dashes, name, c.CommandPath(), hint)
	}
	var missing *pflag.ValueRequiredError
	if errors.As(err, &missing) && missing.GetFlag().Name == "resume" {
		return p.resumeWhat()
	}
	return fmt.Errorf("%s: %w; see %s --help", c.CommandPath(), err, c.CommandPath())
}

// group makes a command that only holds verbs; without one it prints its help.
func group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noVerb, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	c.AddCommand(verbs...)
	return c
}

// reserved makes a verb whose name is kept for later, so that nobody gives it another meaning.
func reserved(name string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return fmt.Errorf("%s: not available in this build", c.CommandPath())
		},
	}
}

// formatOptions are the options of a listing verb.
type formatOptions struct {
	format string
	json   bool
}

func (o *formatOptions) add(f *pflag.FlagSet) {
	f.StringVar(&o.format, "format", string(terminal.Table), "table, text or json")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
}

func (o *formatOptions) parse() (terminal.Format, error) {
	if o.json {
		return terminal.JSON, nil
	}
	return terminal.ParseFormat(o.format)
}

// out is where results go.
func (p *program) out() terminal.Stream { return p.stream(p.stdout) }

func (p *program) stream(w io.Writer) terminal.Stream {
	return terminal.NewStream(w, p.options.noColor, p.env)
}

// resumeWhat says which threads there are when --resume names none.
func (p *program) resumeWhat() error {
	s, err := p.threads()
	if err != nil {
		return err
	}
	entries, _, err := s.List(context.Background(), threadlog.Filter{Limit: 10})
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	for _, e := range entries {
		p.say(fmt.Sprintf("%s  %s  %s", e.ID, e.Updated.Local().Format("2006-01-02 15:04"), e.Title))
	}
	return errors.New("--resume needs the id of a thread; the newest ones are listed above")
}
