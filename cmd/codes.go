package crystalcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/internal/statusline"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/kernel"
	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

//go:generate go run ./internal/codesdoc -o ../docs/codes.md

// code is one stable code.
type code struct {
	Code    string `json:"code"`
	Kind    string `json:"kind"`
	Meaning string `json:"meaning"`
}

// The kinds of codes.
const (
	kindTool     = "tool"
	kindProvider = "provider"
	kindPlugin   = "plugin"
	kindNote     = "note"
	kindStop     = "stop"
	kindExit     = "exit"
)

// codes lists every stable code, sorted by kind, then code. What a constant means stands beside it here, except for the
// packages that list their own.
func codes() []code {
	list := []code{
		{tool.CodeNotFound, kindTool, "no such tool for this turn: unknown, malformed or masked"},
		{tool.CodeUnauthorized, kindTool, "this caller may not call it, or a policy denied it without a code of its own"},
		{tool.CodeUnavailable, kindTool, "the tool exists and can't be served now"},
		{tool.CodeInputInvalid, kindTool, "the arguments are not usable"},
		{tool.CodeAccessDenied, kindTool, "the workspace fence or a fixed refusal of the default policy"},
		{tool.CodePolicyFailed, kindTool, "a policy failed, so the call is denied"},
		{tool.CodeApprovalRejected, kindTool, "the operator, the reviewer or an approver said no, or nobody could be asked"},
		{tool.CodeApprovalFailed, kindTool, "an approver failed, so the call is denied"},
		{tool.CodeTimeout, kindTool, "the time of the tool passed"},
		{tool.CodeExecutionFailed, kindTool, "the tool returned an error or panicked"},
		{tool.CodeCancelled, kindTool, "the caller was cancelled"},
		{tool.CodeResultInvalid, kindTool, "the tool ran and its result can't be used"},
		{tool.CodeCallDepthExceeded, kindTool, "calls within calls are nested too deep"},
		{tool.CodeLoopDetected, kindTool, "the model repeats one call, which is not run"},
		{tool.CodeInterrupted, kindTool, "made up by the host for a call whose result never reached the log"},
		{tool.CodeCommandFailed, kindTool, "a program that a tool ran ended with a code other than 0 or by a signal"},
		{kernel.CodeSubagentFailed, kindTool, "a subagent did not do its task"},
		{tool.CodeDuplicateName, kindTool, "planning: a name was taken; this registration is left out"},
		{tool.CodeDuplicateFlatName, kindTool, "planning: an override was taken, or a flat name could not be made unique"},
		{tool.CodeInvalidDefinition, kindTool, "planning: a registration of a module or an external set is not admitted"},
		{tool.CodeOutputSchemaIgnored, kindTool, "planning: the output schema is not usable; the tool stays"},
		{tool.CodeOutputMismatch, kindTool, "structured content did not satisfy the output schema and was dropped"},
		{tool.CodeNamespaceDescriptionConflict, kindTool, "planning: one namespace has several descriptions"},
		{tool.CodeRestrictionsDiscarded, kindTool, "planning: the edits would have left no tool"},

		{model.CodeKeyMissing, kindProvider, "the provider needs a key and there is none"},
		{model.CodeUnreachable, kindProvider, "the provider can't be reached"},
		{model.CodeTimeout, kindProvider, "the provider did not answer in time"},
		{model.CodeHTTP, kindProvider, "the provider answered with an error"},
		{model.CodeRequestInvalid, kindProvider, "the request was refused before it was sent"},
		{model.CodeStreamInvalid, kindProvider, "the answer breaks the rules of its protocol"},
		{model.CodeStreamEnded, kindProvider, "the answer broke off"},
		{model.CodeContextOverflow, kindProvider, "the provider says that the context is too long"},
		{kernel.CodeFinishUnknown, kindProvider, "the provider ended the answer with a word that nobody knows"},

		{contrib.CodeReplaceConflict, kindPlugin, "a contribution lost its target to another replacement"},
		{contrib.CodeRefused, kindPlugin, "a contribution was refused inside an activation"},
		{contrib.CodeTeardownFailed, kindPlugin, "closing a value of a contribution failed"},
		{contrib.CodeObserverFailed, kindPlugin, "a subscriber of the registry or of the runtime failed"},
		{contrib.CodeCallFailed, kindPlugin, "a contribution failed and was skipped"},
		{contrib.CodeTargetHeld, kindPlugin, "a guarding target is closed because its winner was lost"},

		{dispatcher.CodeApprovalLoweringIgnored, kindNote, "a hook's advice was below the risk that a call has already"},
		{dispatcher.CodeHookImagesIgnored, kindNote, "images that a hook of results returned were not used"},
		{kernel.CodeRawHookChangedRequest, kindNote, "a failed round had been changed by a raw hook"},
		{kernel.CodeCommandNameTaken, kindNote, "a short command name was not given; the command answers behind its owner"},
		{statusline.CodeUnknown, kindNote, "a plugin set a text for a status field that is not its own"},
		{compaction.CompactionFailed, kindNote, "no summary was stored; the history is as before"},

		{threadlog.ThreadInUse, kindNote, "another process writes to the thread"},
		{threadlog.ThreadSchemaNewer, kindNote, "the thread was made by a newer host"},
		{threadlog.ThreadDamaged, kindNote, "the first line is unreadable: the file is not a thread"},
		{threadlog.ThreadRepaired, kindNote, "a torn end was cut, or calls were closed"},
		{threadlog.ThreadRecordSkipped, kindNote, "a line or an item could not be read"},
		{threadlog.MediaMissing, kindNote, "an image file is gone"},

		{string(kernel.Completed), kindStop, "the model answered without calls"},
		{string(kernel.Failed), kindStop, "provider, log or kernel failed"},
		{string(kernel.ContentFiltered), kindStop, "the provider withheld content"},
		{string(kernel.OutputTruncated), kindStop, "the provider cut the answer at its length limit"},
		{string(kernel.ModelCallLimitReached), kindStop, "the model rounds are used up"},
		{string(kernel.ToolCallLimitReached), kindStop, "the next batch does not fit into the tool calls left"},
		{string(kernel.DurationLimitReached), kindStop, "the time is used up"},
		{string(kernel.ContextOverflow), kindStop, "compaction can't make room, or the provider says that the window is full"},
		{string(kernel.LoopDetected), kindStop, "the model repeats one call and does not stop"},
		{string(kernel.Interrupted), kindStop, "cancelled by a signal or the caller"},

		{"0", kindExit, "completed, nothing denied"},
		{"1", kindExit, "invalid options, files, names or keys; no turn ran"},
		{"2", kindExit, "the turn failed, or its content was withheld"},
		{"3", kindExit, "a limit ended the turn"},
		{"4", kindExit, "completed, but something was denied; or the workspace is not trusted"},
		{"5", kindExit, "the turn was interrupted"},
		{"130", kindExit, "SIGINT before a turn could report, or a second signal"},
		{"143", kindExit, "SIGTERM before a turn could report, or a second signal"},
	}
	for _, c := range plugins.Codes() {
		list = append(list, code{string(c.Code), kindPlugin, c.Meaning})
	}
	for _, c := range home.Codes() {
		list = append(list, code{string(c.Code), kindNote, c.Meaning})
	}
	slices.SortStableFunc(list, func(a, b code) int {
		if k := strings.Compare(a.Kind, b.Kind); k != 0 {
			return k
		}
		return strings.Compare(a.Code, b.Code)
	})
	return list
}

func (p *program) codesCommand() *cobra.Command {
	var format formatOptions
	c := &cobra.Command{
		Use: "codes [code]", Short: "List the stable codes, or explain one", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := format.parse()
			if err != nil {
				return err
			}
			return p.listCodes(f, args)
		},
	}
	format.add(c.Flags())
	return c
}

func (p *program) listCodes(f terminal.Format, args []string) error {
	l := terminal.Listing{Columns: []string{"Code", "Kind", "Meaning"}}
	var names []string
	for _, c := range codes() {
		names = append(names, c.Code)
		if len(args) == 0 || c.Code == args[0] {
			l.Rows = append(l.Rows, []string{c.Code, c.Kind, c.Meaning})
			l.Records = append(l.Records, c)
		}
	}
	if len(l.Rows) == 0 {
		hint := "crystal codes lists all"
		if near := jsonc.Near(args[0], names); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return fmt.Errorf("there is no code %q; %s", args[0], hint)
	}
	return l.Print(p.out(), f)
}

// WriteCodes writes the documentation of the codes as a Markdown page.
func WriteCodes(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Codes\n\nMade from the code by `go generate ./cmd`. `crystal codes` prints the same list. " +
		"A code keeps its meaning for ever and is never used for anything else.\n")
	titles := map[string]string{
		kindTool: "Tool results and planning", kindProvider: "Model requests", kindPlugin: "Plugins and contributions",
		kindNote: "Files and threads", kindStop: "Stop reasons of a turn", kindExit: "Exit codes of the command line",
	}
	kind := ""
	for _, c := range codes() {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(&b, "\n## %s (`%s`)\n\n| code | meaning |\n|---|---|\n", titles[kind], kind)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", c.Code, c.Meaning)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
