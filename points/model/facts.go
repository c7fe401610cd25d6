package model

import (
	"context"
	"strings"
)

// Facts tells which models a host uses. A constructor of a plugin may ask for it, keep it, and read it at any time from any
// goroutine: each read is fresh.
type Facts interface {
	// Session describes the model of a session. The context of a turn stands for the thread of that turn, any other for
	// the active thread of the host. Zero before a thread is open.
	Session(ctx context.Context) Description
	// Review describes the model that reviews calls.
	Review() ReviewFacts
}

// Description is what a host lets others know about a model that it uses: no key, endpoint, organization or project. The
// zero value is no model.
type Description struct {
	Provider, Protocol, Model          string
	ContextWindow                      int      // tokens
	MaxTokens                          int      // output limit that is sent; 0 for none
	Temperature, TopP                  *float64 // nil: none is sent. The caller's own
	ImageInput, AudioInput, VideoInput bool
	Gear                               string // thinking gear in lower case; "default" is the model's own
}

// ReviewFacts describes the model that reviews calls.
type ReviewFacts struct {
	Independent bool        // reviews have a model of their own
	Model       Description // zero unless Independent
}

// Describe says about the model that r reaches what others may know.
func (r *ClientRequest) Describe(gear string) Description {
	if gear == "" {
		gear = "default"
	}
	return Description{
		Provider: r.Provider, Protocol: r.Protocol, Model: r.Model, ContextWindow: r.ContextWindow, MaxTokens: r.MaxTokens,
		Temperature: clone(r.Temperature), TopP: clone(r.TopP),
		ImageInput: r.ImageInput, AudioInput: r.AudioInput, VideoInput: r.VideoInput, Gear: strings.ToLower(gear),
	}
}

func clone(f *float64) *float64 {
	if f == nil {
		return nil
	}
	own := *f
	return &own
}
