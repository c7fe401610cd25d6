package tool

// Codes of tool results that the host sets. They are stable: a code keeps its meaning for ever. Tools, policies and
// approvers may use codes of their own beside them.
const (
	// CodeNotFound: no such tool for this turn: unknown, malformed or masked. Params: name.
	CodeNotFound = "tool_not_found"
	// CodeUnauthorized: this caller may not call it: audience, exposure, authority, or a policy that gave no code.
	// Params: audience.
	CodeUnauthorized = "tool_unauthorized"
	// CodeUnavailable: the tool exists and can't be served now: revoked generation or handle, lost lease, held guard.
	// Params: reason (one of the Reason constants), target, pluginId.
	CodeUnavailable = "tool_unavailable"
	// CodeInputInvalid: the arguments are not usable. Params: reasonCode (notJson, trailingText, duplicateKey, notObject,
	// tooLarge, tooDeep, schema), offset, errors.
	CodeInputInvalid = "tool_input_invalid"
	// CodeAccessDenied: the workspace fence or a fixed refusal of the default policy. Params: path.
	CodeAccessDenied = "tool_access_denied"
	// CodePolicyFailed: a policy failed, so the call is denied. Params: origin, cause.
	CodePolicyFailed = "tool_policy_failed"
	// CodeApprovalRejected: the operator, the reviewer or an approver said no, or nobody could be asked. Params: by.
	CodeApprovalRejected = "tool_approval_rejected"
	// CodeApprovalFailed: an approver failed, so the call is denied. Params: origin, cause.
	CodeApprovalFailed = "tool_approval_failed"
	// CodeTimeout: the time of the binding passed. Params: timeout.
	CodeTimeout = "tool_timeout"
	// CodeExecutionFailed: the runtime returned an error or panicked. Its text is fixed.
	CodeExecutionFailed = "tool_execution_failed"
	// CodeCancelled: the caller was cancelled, at any stage.
	CodeCancelled = "tool_cancelled"
	// CodeResultInvalid: the tool ran and its result can't be used. Params: reasonCode (missing, inconsistent, blank,
	// tooLarge, notJson, code, normalizerFailed).
	CodeResultInvalid = "tool_result_invalid"
	// CodeCallDepthExceeded: subcalls are nested too deep. Params: depth, limit.
	CodeCallDepthExceeded = "tool_call_depth_exceeded"
	// CodeLoopDetected: the model repeats one call, which is not run. Params: count.
	CodeLoopDetected = "tool_loop_detected"
	// CodeInterrupted: made up by the host for a call whose result never reached the log. Params: started.
	CodeInterrupted = "tool_interrupted"
	// CodeCommandFailed: a program that a tool ran ended with a code other than 0 or by a signal. Params: exitCode,
	// signal.
	CodeCommandFailed = "command_failed"
)

// Codes of diagnostics of a planning pass.
const (
	// CodeDuplicateName (warning): a canonical name was taken; this registration is left out. Params: name, owner, keptBy.
	CodeDuplicateName = "tool.duplicate_name"
	// CodeDuplicateFlatName (warning): an override was taken, or a flat name could not be made unique. Params: flatName,
	// name, owner, keptBy.
	CodeDuplicateFlatName = "tool.duplicate_flat_name"
	// CodeInvalidDefinition (warning): a registration of a module or an external set is not admitted. Params: owner,
	// toolId, reasonCode, keyword, detail.
	CodeInvalidDefinition = "tool.invalid_definition"
	// CodeOutputSchemaIgnored (warning): the output schema is not usable; the tool stays. Params: owner, toolId, keyword.
	CodeOutputSchemaIgnored = "tool.output_schema_ignored"
	// CodeOutputMismatch (warning): structured content did not satisfy the output schema and was dropped. Params: owner,
	// toolId, errors.
	CodeOutputMismatch = "tool.output_mismatch"
	// CodeNamespaceDescriptionConflict (info): one namespace has several descriptions. Params: namespace, owners.
	CodeNamespaceDescriptionConflict = "tool.namespace_description_conflict"
	// CodeRestrictionsDiscarded (warning): the edits would have left no tool. Params: tools.
	CodeRestrictionsDiscarded = "tool.restrictions_discarded"
	// CodePluginToolInvalid (warning): a registration of a plugin is not admitted. Params: toolId, sourceId, reasonCode,
	// keyword, detail.
	CodePluginToolInvalid = "PluginToolContributionInvalid"
)

// Reasons of [CodeUnavailable].
const (
	ReasonRevoked        = "revoked"        // the generation or the handle is gone, or about to go
	ReasonLease          = "lease"          // the tool's own lease refused
	ReasonNotAvailable   = "notAvailable"   // registered, and not published
	ReasonPlanningFailed = "planningFailed" // the source failed when it was asked again
	ReasonGuardLost      = "guardLost"      // a policy or approval target lost its winner
)

// Fixed texts, which never show what a plugin said.
const (
	TextExecutionFailed = "The tool failed."
	TextUnavailable     = "The tool is not available."
	TextCancelled       = "The call was cancelled."
)

// ValidCode reports whether s may be the code of a result: 1 to 64 printable ASCII characters without space.
func ValidCode(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
