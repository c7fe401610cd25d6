package home

import "time"

// Config is what config.json says, in the layers home and project, with the defaults filled in.
type Config struct {
	Provider string // blank: none chosen
	Model    string // name of the model at its provider; blank: none chosen
	Thinking string // gear
	Mode     string // work or plan
	Approval string // approval mode

	ApprovalModel    ApprovalModel
	ExternalApproval ExternalApproval

	Plugins         bool     // discovery of plugins
	DisabledPlugins []string // lowered ids, of both layers

	ExternalTools     bool
	Skills            bool
	SkillDirectories  []string
	Instructions      bool
	InstructionFiles  []string
	PromptSet         string
	PromptAttachments bool

	Limits     Limits
	Compaction Compaction
	Retry      Retry

	CustomStatusLine bool
	StatusLine       []string
	LogLevel         string // debug, info, warn or error
}

// ApprovalModel is the model that reviews calls.
type ApprovalModel struct {
	Enabled         bool
	Provider, Model string
	ThinkingEffort  string
}

// ExternalApproval says whose word counts for an external tool set of a tree: author or host.
type ExternalApproval struct{ Home, Project string }

// Unlimited stands for no limit, in counts and durations.
const Unlimited = -1

// Limits bound one turn.
type Limits struct {
	ModelCalls   int           // Unlimited for none
	ToolCalls    int           // Unlimited for none
	TurnDuration time.Duration // Unlimited for none
	BashTimeout  time.Duration // Unlimited for none
	ToolOutput   int           // characters of one result
}

// Compaction says when a thread is compacted on its own.
type Compaction struct {
	Enabled   bool
	Threshold float64
}

// Retry says how one model request is sent again.
type Retry struct {
	Attempts                           int
	BaseDelay, MaxDelay, MaxRetryAfter time.Duration
}

// DefaultConfig is what holds without any file.
func DefaultConfig() Config {
	return Config{
		Thinking: "default", Mode: "work", Approval: "default",
		ApprovalModel:    ApprovalModel{ThinkingEffort: "default"},
		ExternalApproval: ExternalApproval{Home: "author", Project: "host"},
		Plugins:          true, ExternalTools: true, Skills: true, Instructions: true, PromptAttachments: true,
		InstructionFiles: []string{"AGENTS.md", "CONTEXT.md"},
		Limits: Limits{
			ModelCalls: 1024, ToolCalls: 8192, TurnDuration: 168 * time.Hour, BashTimeout: 2 * time.Minute, ToolOutput: 100_000,
		},
		Compaction: Compaction{Enabled: true, Threshold: 0.8},
		Retry: Retry{
			Attempts: 5, BaseDelay: 2 * time.Second, MaxDelay: 30 * time.Second, MaxRetryAfter: 2 * time.Minute,
		},
		LogLevel: "info",
	}
}
