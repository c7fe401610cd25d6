// Package reviewui is a plugin that builds on reviewcore: it imports its typed service and contributes a slash command.
package reviewui

import (
	"context"
	"strings"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/deps"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewcore"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/command"
)

// Plugin is the plugin.
var Plugin = plugins.Plugin{
	ID: "acme.review-ui", Version: "0.3.0",
	Requires: deps.Requirements{reviewcore.ID: "1.0.0"},
	Module: fx.Options(
		export.Import[reviewcore.Queue](reviewcore.ID),
		contrib.Provide[command.Prompt](command.Prompts, triage),
	),
}

func triage(q reviewcore.Queue) command.Prompt {
	return command.PromptFunc(
		command.Spec{Name: "triage", Aliases: []string{"tri"}, Description: "Summarize the open review queue"},
		func(context.Context, command.Invocation) (string, bool, error) {
			open := q.Open()
			if len(open) == 0 {
				return "", false, nil
			}
			return "Sort these reviews by urgency: " + strings.Join(open, "; "), true, nil
		})
}
