package crystalcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/kernel"
)

// verbs are the slash commands of an interactive client. Nobody else gets their names, in a headless run neither: a command
// must not change its meaning with the client.
var verbs = []kernel.HostCommand{
	{Name: "approval", Description: "Shows or changes the approval mode"},
	{Name: "cd", Description: "Changes the workspace"},
	{Name: "clear", Description: "Begins a new thread"},
	{Name: "compact", Description: "Summarizes the earlier part of the thread"},
	{Name: "exit", Aliases: []string{"quit"}, Description: "Ends the client"},
	{Name: "fork", Description: "Goes on with a copy of the thread"},
	{Name: "help", Description: "Lists the commands"},
	{Name: "model", Description: "Shows or changes the model"},
	{Name: "plugins", Description: "Lists, shows and switches plugins"},
	{Name: "prompt", Description: "Shows or changes the prompt set"},
	{Name: "resume", Description: "Goes on with another thread"},
	{Name: "stats", Description: "Shows what the session has used"},
	{Name: "status", Description: "Shows the state of the session"},
	{Name: "statusline", Description: "Chooses the fields of the status line"},
	{Name: "thinking", Description: "Shows or changes the thinking gear"},
	{Name: "tools", Description: "Lists, shows and switches external tool sets"},
}

// isVerb reports whether a typed name is that of a verb.
func isVerb(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(verbs, func(v kernel.HostCommand) bool { return v.Name == name || slices.Contains(v.Aliases, name) })
}

// errOperator refuses a command that acts on a session.
func errOperator(name string) error {
	return fmt.Errorf("/%s is a command for an operator; a headless run has none", name)
}
