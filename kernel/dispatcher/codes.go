package dispatcher

// Codes of diagnostics about hooks of tool calls.
const (
	// CodeApprovalLoweringIgnored (info): a hook's advice was below the risk that a call has already. Params: callId, risk,
	// advice.
	CodeApprovalLoweringIgnored = "ApprovalLoweringIgnored"
	// CodeHookImagesIgnored (warning): images that a hook of results returned were not used. Params: callId, reason.
	CodeHookImagesIgnored = "HookImagesIgnored"
)
