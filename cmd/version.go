package crystalcmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/terminal"
)

// What a release sets with -ldflags "-X …".
var (
	release = "0.1.0"
	commit  = ""
	date    = ""
)

// Version returns the version of this host's kernel and command line.
func Version() string { return release }

func (p *program) versionCommand() *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return p.version(json) },
	}
	c.Flags().BoolVar(&json, "json", false, "one JSON object")
	return c
}

// version prints the version. It reads no file and builds nothing.
func (p *program) version(json bool) error {
	revision, built := buildFacts()
	if !json {
		short := revision
		if len(short) > 12 {
			short = short[:12]
		}
		_, err := fmt.Fprintf(p.stdout, "crystal %s (commit %s, %s/%s, %s)\n", release, short, runtime.GOOS, runtime.GOARCH, runtime.Version())
		return err
	}
	type compiled struct {
		ID      string `json:"id"`
		Version string `json:"version"`
	}
	list := make([]compiled, 0, len(p.list))
	for _, one := range p.list {
		list = append(list, compiled{one.ID, one.Version})
	}
	return terminal.PrintJSON(terminal.Stream{W: p.stdout}, struct {
		Version string     `json:"version"`
		Commit  *string    `json:"commit"`
		Date    *string    `json:"date"`
		Go      string     `json:"go"`
		OS      string     `json:"os"`
		Arch    string     `json:"arch"`
		Plugins []compiled `json:"plugins"`
	}{release, known(revision, "unknown"), known(built, ""), runtime.Version(), runtime.GOOS, runtime.GOARCH, list})
}

// buildFacts returns commit and date of the build, from the linker or from the toolchain.
func buildFacts() (revision, built string) {
	revision, built = commit, date
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && revision == "":
				revision = s.Value
			case s.Key == "vcs.time" && built == "":
				built = s.Value
			}
		}
	}
	if revision == "" {
		revision = "unknown"
	}
	return revision, built
}

// known returns nil for a value that is not known.
func known(value, unknown string) *string {
	if value == unknown {
		return nil
	}
	return &value
}
