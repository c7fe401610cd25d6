package house_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/tool"
)

// failure is one way in which a contribution can fail.
type failure struct {
	name  string
	cause contrib.Cause // of the note; blank: there is none
}

var failures = []failure{
	{"error", contrib.CauseError},
	{"panic", contrib.CausePanic},
	{"deadline", contrib.CauseDeadline},
	{"unavailable", ""},
	{"refused", contrib.CauseRefused},
	{"typed nil", ""},
}

// applies reports whether a contribution to the point can fail so.
func (f failure) applies(s subject) bool {
	switch f.name {
	case "deadline":
		return s.typed != nil && s.point.Info().Deadline > 0
	case "refused":
		return s.refuses
	}
	return s.typed != nil // data does not fail
}

const secret = "hunter2"

// behave fails in the given way, each time that it is called.
func (f failure) behave(w *tour) behaviour {
	var once sync.Once
	return func(ctx context.Context) (bool, error) {
		switch f.name {
		case "error":
			return false, errors.New("password " + secret)
		case "panic":
			panic("password " + secret)
		case "unavailable": // the plugin is switched off while it is called
			once.Do(func() {
				go func() { _, _ = w.k.Plugins.SetEnabled(w.t.Context(), "acme.failing", false, plugins.ScopeProcess) }()
			})
			fallthrough
		case "deadline":
			<-ctx.Done()
			return false, ctx.Err()
		}
		return true, nil
	}
}

// seen is what became of a tour past a contribution that fails.
type seen struct {
	failed []string // what did not come to a good end
	codes  map[string]string
	causes []contrib.Cause // noted for the point, each once
	reason string          // why it was not added; blank: it was
}

// run takes a host on tour that has a contribution to each point, of which one fails.
func (f failure) run(t *testing.T, s subject) (out seen) {
	synctest.Test(t, func(t *testing.T) {
		w := &tour{}
		failing := plugins.Plugin{ID: "acme.failing", Version: "1.0.0"}
		switch f.name {
		case "typed nil":
			failing.Module = s.typed()
		case "deadline":
			failing.Module = s.add(f.behave(w), contrib.Deadline(time.Second))
		default:
			failing.Module = s.add(f.behave(w))
		}
		var others []fx.Option
		for _, other := range subjects() {
			if other.point != s.point {
				others = append(others, other.add(func(context.Context) (bool, error) { return false, nil }))
			}
		}
		w.start(t, failing, plugins.Plugin{ID: "acme.others", Version: "1.0.0", Module: fx.Options(others...)})
		w.run()
		slices.Sort(w.failed)
		out.failed, out.codes = slices.Compact(w.failed), w.codes
		for _, d := range w.k.Registry().Diagnostics() {
			assert.NotContains(t, fmt.Sprint(d), secret)
			switch {
			case d.Point != s.point.Name():
				assert.NotEqual(t, contrib.CodeCallFailed, d.Code, "%+v", d)
			case d.Code == contrib.CodeCallFailed:
				cause, _ := d.Params["cause"].(string)
				if c := contrib.Cause(cause); !slices.Contains(out.causes, c) {
					out.causes = append(out.causes, c)
				}
			case d.Code == contrib.CodeRefused:
				out.reason, _ = d.Params["reason"].(string)
			}
		}
		assert.NotContains(t, w.prompt, secret)
	})
	return out
}

// wanted is what the catalog promises for a failure.
func (f failure) wanted(s subject) seen {
	w := seen{codes: map[string]string{}}
	name, policy := s.name(), s.point.Info().Failure
	if f.name == "typed nil" {
		w.reason = "nilContribution"
	}
	// What nobody else offers is not there.
	switch name {
	case "tool.source":
		w.codes["probed"] = tool.CodeNotFound
	case "command.prompt":
		w.failed = []string{"command"}
	case "model.protocol":
		w.failed = []string{"turn of another protocol"}
	case "subagent.runtime":
		if f.name != "typed nil" {
			w.codes["task"] = kernel.CodeSubagentFailed
			if f.name != "unavailable" {
				w.causes = []contrib.Cause{f.cause}
			}
			return w
		}
		w.codes["task"] = tool.CodeInputInvalid // the profile is none
	case "command.action":
		w.failed = []string{"action"}
	}
	if f.name == "typed nil" {
		return w
	}
	switch {
	case s.place != "": // it fails the round, as the model would; once it is gone, the next round goes past it
		w.failed = []string{"turn"}
		if f.name != "unavailable" {
			w.failed = append(w.failed, "turn of another protocol")
		}
	case policy == contrib.Deny:
		code := map[string]string{"dispatch.policy": tool.CodePolicyFailed, "dispatch.approval": tool.CodeApprovalFailed}[name]
		switch f.name {
		case "unavailable":
			w.codes["change"] = tool.CodeUnavailable
			return w // it is gone by the next call
		case "refused": // a denial whose own code cannot stand
			code = map[string]string{"dispatch.policy": tool.CodeUnauthorized, "dispatch.approval": tool.CodeApprovalRejected}[name]
		}
		for _, call := range []string{"change", "large", "probed", "task"} {
			w.codes[call] = code
		}
	case f.name == "unavailable":
	case policy == contrib.Fail:
		switch name {
		case "command.action":
			w.causes = []contrib.Cause{f.cause}
		case "dispatch.normalizer":
			for _, call := range []string{"change", "large", "probed", "task"} {
				w.codes[call] = tool.CodeResultInvalid
			}
		case "compaction.summarizer":
			w.failed = []string{"compaction"}
		case "generator.commit_message":
			w.failed = []string{"commit message"}
		case "generator.welcome":
			w.failed = []string{"welcome"}
		}
	default:
		w.causes = []contrib.Cause{f.cause}
	}
	return w
}

// cell says in the page what became of it.
func (s seen) cell() string {
	if s.reason != "" {
		return "not added"
	}
	var parts []string
	for _, call := range []string{"change", "probed", "task"} {
		if code := s.codes[call]; code != "" {
			parts = append(parts, "`"+code+"`")
			break
		}
	}
	for _, what := range s.failed {
		parts = append(parts, "the "+what+" fails")
	}
	if len(parts) == 0 {
		parts = append(parts, "left out")
	}
	if len(s.causes) > 0 {
		parts = append(parts, "noted")
	}
	return strings.Join(parts, ", ")
}

var update = flag.Bool("update", false, "write the pages that are made from what tests saw")

// failuresPage is the table for readers.
const failuresPage = "../../docs/failures.md"

// Each contribution fails in each way that there is, in turn: the catalog says what becomes of it, and the page shows it.
func TestFailuresAtEveryPoint(t *testing.T) {
	var b strings.Builder
	b.WriteString("# When a contribution fails\n\nMade by `go generate ./internal/house` from what a test saw: a plugin contributes to each point in turn, and fails.\n")
	b.WriteString("The rest of the host goes on in every case. \"Noted\" is one `ContributionCallFailed` for each plugin, point and cause in a\nturn; ")
	b.WriteString("unavailable is a plugin that is switched off while it is called; refused is what the contract forbids to return.\n\n")
	b.WriteString("| point | policy |")
	for _, f := range failures {
		b.WriteString(" " + f.name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(failures)) + "\n")
	for _, s := range subjects() {
		policy := s.point.Info().Failure.String()
		if s.place != "" {
			policy = "fail"
		}
		fmt.Fprintf(&b, "| `%s`%s | %s |", s.point.Name(), s.place, policy)
		for _, f := range failures {
			if !f.applies(s) {
				b.WriteString(" |")
				continue
			}
			t.Run(s.name()+"/"+f.name, func(t *testing.T) {
				got := f.run(t, s)
				assert.Equal(t, f.wanted(s), got)
				b.WriteString(" " + got.cell() + " |")
			})
		}
		b.WriteString("\n")
	}
	if t.Failed() {
		return
	}
	if *update {
		require.NoError(t, os.WriteFile(failuresPage, []byte(b.String()), 0o644))
	}
	page, err := os.ReadFile(failuresPage)
	require.NoError(t, err)
	require.Equal(t, b.String(), string(page), "run go generate ./internal/house")
}
