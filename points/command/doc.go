// Package command holds the contracts of slash commands: [Prompt] commands expand to the text of a turn, [Action]
// commands act and write notes.
//
//	contrib.Supply(command.Prompts, command.PromptFunc(
//		command.Spec{Name: "triage", Aliases: []string{"tri"}, Description: "Summarize the review queue"}, expand))
//
// A contributed command never hides one of another kind: built-in verbs and markdown commands keep a contested name, and
// the contributed one answers as /<plugin id>:<name>. Both points are read at each use, so that revoking removes a
// command from every list and every lookup at once.
package command
