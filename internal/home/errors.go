package home

import "errors"

// Errors of finding directories.
var (
	// ErrNoHome is returned by [Find] when there is no way to tell where the home directory is.
	ErrNoHome = errors.New("no home directory: set CRYSTAL_HOME or use --home")
	// ErrWorkspace is matched when the workspace can't be used.
	ErrWorkspace = errors.New("unusable workspace")
)

// Errors of choosing a model.
var (
	// ErrUnknownProvider is matched when a provider is named that no file defines.
	ErrUnknownProvider = errors.New("unknown provider")
	// ErrNoModel is matched when it isn't clear which model is meant.
	ErrNoModel = errors.New("no model chosen")
	// ErrKeyMissing is matched when a provider needs a key and there is none.
	ErrKeyMissing = errors.New("no key")
)
