package kernel

// Codes of notes that the kernel makes. They are stable.
const (
	// CodeRawHookChangedRequest: a round failed whose request raw hooks had changed. Params: labels.
	CodeRawHookChangedRequest = "RawHookChangedRequest"
	// CodeCommandNameTaken: a short command name was not given. Params: name, owner, keptBy, qualified.
	CodeCommandNameTaken = "CommandNameTaken"
	// CodeFinishUnknown: the provider ended its answer with a word of its own. Params: raw.
	CodeFinishUnknown = "provider_finish_unknown"
)
