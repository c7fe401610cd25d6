package prompt

import (
	"context"
	"time"

	"github.com/crystalkernel/crystal/contrib"
)

// Context is what sections and assemblers are given. It holds configuration and tools, nothing of the running
// conversation: equal inputs give byte-equal text.
type Context struct {
	Thread    string
	Workspace string
	Mode      string   // work, plan, review, compaction or image
	Client    string   // origin of the client: run, app, …
	Tools     []string // names of the tools that are available, in the order of the model's list
}

// Section is one section of the system prompt.
//
// Content is called each time a prompt is built; calls may overlap. Blank content leaves the section out, so a
// replacement with blank content removes a built-in. More than 256 KiB is refused. An error leaves the section out and
// is reported; the others stay. What depends on the running thread goes to prompt.chat_context or prompt.thread_context.
type Section interface {
	Name() string
	Content(ctx context.Context, c Context) (string, error)
}

// SectionFunc makes a section of a function.
func SectionFunc(name string, content func(ctx context.Context, c Context) (string, error)) Section {
	return sectionFunc{name, content}
}

type sectionFunc struct {
	name    string
	content func(context.Context, Context) (string, error)
}

func (s sectionFunc) Name() string { return s.name }
func (s sectionFunc) Content(ctx context.Context, c Context) (string, error) {
	return s.content(ctx, c)
}

// Targets of the built-in sections.
const (
	Identity            = "identity"
	SubagentProfiles    = "subagent-profiles"
	SubagentLifecycle   = "subagent-lifecycle"
	ProjectInstructions = "project-instructions"
	WorkingStyle        = "working-style"
	ResponseStyle       = "response-style"
	EditingWorkflow     = "editing-workflow"
	FileReferences      = "file-references"
	ModeProtocol        = "mode-protocol"
	UserQuestions       = "user-questions"
	BootstrapFiles      = "bootstrap-files"
	Memory              = "memory"
	ActiveSkills        = "active-skills"
	SkillsSummary       = "skills-summary"
	CustomCommands      = "custom-commands"
	ChatContextSection  = "chat-context"
	ThreadContextPage   = "thread-context"
	DeferredTools       = "deferred-tools"
	RoleInstructions    = "role-instructions"
	Attachments         = "prompt-attachments"
)

// MaxSection is the largest section in bytes.
const MaxSection = 256 << 10

// Sections is the point prompt.section.
var Sections = contrib.Define(contrib.Spec[Section]{
	Name: "prompt.section", Doc: "Adds a section to the system prompt.",
	Tiers: contrib.TierA | contrib.TierB, Scopes: contrib.WorkspaceAndThread,
	Evaluation: contrib.PerPrompt, Failure: contrib.Skip, Deadline: 10 * time.Second,
	Targets: []contrib.Target{
		{Name: Identity, Order: 100, Doc: "Who the agent is."},
		{Name: SubagentProfiles, Order: 200, Doc: "Profiles that subagents can be started with."},
		{Name: SubagentLifecycle, Order: 300, Doc: "How subagents are used."},
		{Name: ProjectInstructions, Order: 350, Doc: "Instructions files of home and workspace."},
		{Name: WorkingStyle, Order: 400, Doc: "How to work."},
		{Name: ResponseStyle, Order: 500, Doc: "How to answer."},
		{Name: EditingWorkflow, Order: 600, Doc: "How to change files."},
		{Name: FileReferences, Order: 700, Doc: "How to refer to files."},
		{Name: ModeProtocol, Order: 800, Doc: "What the mode allows."},
		{Name: UserQuestions, Order: 900, Doc: "How to ask the operator; only with the tool question."},
		{Name: BootstrapFiles, Order: 1000, Doc: "The environment: workspace, platform, date."},
		{Name: Memory, Order: 1100, Doc: "What was remembered for the agent."},
		{Name: ActiveSkills, Order: 1300, Doc: "Skills that are loaded."},
		{Name: SkillsSummary, Order: 1400, Doc: "Skills that can be loaded."},
		{Name: CustomCommands, Order: 1500, Doc: "Commands that the operator can use."},
		{Name: ChatContextSection, Order: 1600, Doc: "Text of prompt.chat_context."},
		{Name: ThreadContextPage, Order: 1700, Doc: "Pages of prompt.thread_context."},
		{Name: DeferredTools, Order: 1800, Doc: "Namespaces of tools that a search finds."},
		{Name: RoleInstructions, Order: 1900, Doc: "Instructions of the caller."},
		{Name: Attachments, Order: 2000, Doc: "Prompt attachments."},
	},
	Describe: describeSection,
	Guard:    guardSection,
})
