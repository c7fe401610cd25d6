package crystalcmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/plugins"
)

// sourceOptions are the options of verbs about the directories of both trees.
type sourceOptions struct {
	format formatOptions
	source string
	host   bool // there are entries without a directory too
}

// verb makes a verb with these options.
func (o *sourceOptions) verb(
	use, short string, args cobra.PositionalArgs, run func(f terminal.Format, s plugins.Source, args []string) error,
) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short, Args: args,
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := o.format.parse()
			if err != nil {
				return err
			}
			s, err := o.parse()
			if err != nil {
				return err
			}
			return run(f, s, args)
		},
	}
	o.format.add(c.Flags())
	c.Flags().StringVar(&o.source, "source", "", o.words())
	return c
}

func (o *sourceOptions) words() string {
	if o.host {
		return "home, project or host"
	}
	return "home or project"
}

func (o *sourceOptions) parse() (plugins.Source, error) {
	s := plugins.Source(o.source)
	if s == "" || s == plugins.SourceHome || s == plugins.SourceProject || s == plugins.SourceHost && o.host {
		return s, nil
	}
	return "", fmt.Errorf("unknown source %q; use %s", o.source, o.words())
}
