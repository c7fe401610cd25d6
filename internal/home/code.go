package home

// Code names what a note is about. Codes are stable interface.
type Code string

// The codes of files and directories.
const (
	// ConfigUnknownKey: a key of a configuration file means nothing.
	ConfigUnknownKey Code = "ConfigUnknownKey"
	// ConfigValueInvalid: a value of a configuration file is not allowed; its key takes its default.
	ConfigValueInvalid Code = "ConfigValueInvalid"
	// ConfigProjectKeyIgnored: a key has no force in the configuration file of a project.
	ConfigProjectKeyIgnored Code = "ConfigProjectKeyIgnored"
	// ConfigLocked: the lock of a file was not free in time.
	ConfigLocked Code = "ConfigLocked"
	// ProjectTreeIgnored: the project tree, or an entry of it, leads out of the workspace.
	ProjectTreeIgnored Code = "ProjectTreeIgnored"
	// WorkspaceUntrusted: the project tree has no force because the workspace is not trusted.
	WorkspaceUntrusted Code = "WorkspaceUntrusted"
	// CommandFileInvalid: the file of a markdown command was skipped.
	CommandFileInvalid Code = "CommandFileInvalid"
	// ToolSetInvalid: an external tool set was skipped.
	ToolSetInvalid Code = "ToolSetInvalid"
)

// CodeDoc documents one code.
type CodeDoc struct {
	Code    Code
	Meaning string // one sentence without a full stop
}

// Codes lists the codes of this package.
func Codes() []CodeDoc {
	return []CodeDoc{
		{ConfigUnknownKey, "a key of a configuration file means nothing"},
		{ConfigValueInvalid, "a value of a configuration file is not allowed; its key takes its default"},
		{ConfigProjectKeyIgnored, "a key has no force in the configuration file of a project"},
		{ConfigLocked, "the lock of a file was not free in time"},
		{ProjectTreeIgnored, "the project tree, or an entry of it, leads out of the workspace"},
		{WorkspaceUntrusted, "the project tree has no force because the workspace is not trusted"},
		{CommandFileInvalid, "the file of a markdown command was skipped"},
		{ToolSetInvalid, "an external tool set was skipped"},
	}
}
