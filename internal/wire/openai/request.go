package openai

import (
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/internal/wire/schema"
	"github.com/crystalkernel/crystal/internal/wire/transcript"
	"github.com/crystalkernel/crystal/points/model"
)

// Encode writes a request of Chat Completions.
func (c *codec) Encode(e *wire.Encoding, r *model.Request) error {
	w := writer{codec: c, e: e, r: r, b: e.Body}
	err := w.request()
	e.Body = w.b
	return err
}

// writer writes one request.
type writer struct {
	*codec
	e     *wire.Encoding
	r     *model.Request
	b     []byte
	parts []transcript.Part
}

func (w *writer) request() error {
	w.b = append(w.b, `{"model":`...)
	w.b = rawjson.AppendString(w.b, w.r.Model)
	w.b = append(w.b, `,"messages":[`...)
	if strings.TrimSpace(w.r.System) != "" {
		w.message("system", w.r.System)
	}
	for b, err := range transcript.Blocks(w.r.Items) {
		if err != nil {
			return err
		}
		switch b.Role {
		case transcript.System:
			for _, i := range b.Items {
				if strings.TrimSpace(i.Text) != "" {
					w.message("system", transcript.Plain(i.Text))
				}
			}
		case transcript.User:
			for _, i := range b.Items {
				w.user(i)
			}
		case transcript.Assistant:
			w.assistant(b.Items)
		case transcript.Results:
			w.results(b)
		}
	}
	w.b = rawjson.Close(w.b, ']')
	w.b = append(w.b, `,"stream":true`...)
	if w.streamUsage && !w.e.WithoutUsage {
		w.e.AsksForUsage = true
		w.b = append(w.b, `,"stream_options":{"include_usage":true}`...)
	}
	if err := w.tools(); err != nil {
		return err
	}
	w.sampling()
	if err := w.gear(); err != nil {
		return err
	}
	w.b = append(w.b, '}')
	return nil
}

func (w *writer) message(role, text string) {
	w.b = append(w.b, `{"role":"`...)
	w.b = append(w.b, role...)
	w.b = append(w.b, `","content":`...)
	w.b = rawjson.AppendString(w.b, text)
	w.b = append(w.b, "},"...)
}

func (w *writer) user(i *model.Item) {
	w.parts = transcript.Parts(w.parts[:0], i, w.r.AcceptsImages)
	switch {
	case len(w.parts) == 0:
	case len(w.parts) == 1 && w.parts[0].Image == nil:
		w.message("user", w.parts[0].Text)
	default:
		w.content(w.parts)
	}
}

// content writes a user message of several parts.
func (w *writer) content(parts []transcript.Part) {
	w.b = append(w.b, `{"role":"user","content":[`...)
	for _, p := range parts {
		if p.Image == nil {
			w.b = append(w.b, `{"type":"text","text":`...)
			w.b = rawjson.AppendString(w.b, p.Text)
			w.b = append(w.b, "},"...)
			continue
		}
		w.b = append(w.b, `{"type":"image_url","image_url":{"url":`...)
		w.b = rawjson.AppendBase64(w.b, "data:"+p.Image.MediaType+";base64,", p.Image.Data)
		w.b = append(w.b, "}},"...)
	}
	w.b = append(rawjson.Close(w.b, ']'), "},"...)
}

func (w *writer) assistant(items []*model.Item) {
	text, reasoning, calls := "", "", 0
	for _, i := range items {
		switch i.Kind {
		case model.Message:
			text = transcript.Join(text, transcript.Plain(i.Text))
		case model.Reasoning:
			reasoning = transcript.Join(reasoning, transcript.Reasoning(i))
		case model.ToolCall:
			calls++
		}
	}
	reasoning, replayed := w.replay(reasoning)
	if text == "" && calls == 0 && reasoning == "" {
		return
	}
	w.b = append(w.b, `{"role":"assistant","content":`...)
	if text == "" {
		w.b = append(w.b, "null"...)
	} else {
		w.b = rawjson.AppendString(w.b, text)
	}
	if replayed {
		w.b = append(w.b, `,"reasoning_content":`...)
		w.b = rawjson.AppendString(w.b, reasoning)
	}
	if calls > 0 {
		w.b = append(w.b, `,"tool_calls":[`...)
		for _, i := range items {
			if i.Kind == model.ToolCall {
				w.call(i)
			}
		}
		w.b = rawjson.Close(w.b, ']')
	}
	w.b = append(w.b, "},"...)
}

// replay says what of the reasoning of an earlier turn is sent. A deepseek model that refuses a request wants reasoning
// that is missing, so there the second request has an empty one in its place.
func (w *writer) replay(reasoning string) (string, bool) {
	switch {
	case w.deepseek:
		w.e.CarriesReasoning = true
		return reasoning, reasoning != "" || w.e.WithoutReasoning
	case w.r.ReplayReasoning && !w.e.WithoutReasoning && reasoning != "":
		w.e.CarriesReasoning = true
		return reasoning, true
	}
	return "", false
}

func (w *writer) call(i *model.Item) {
	w.b = append(w.b, `{"id":"`...)
	w.b = append(w.b, transcript.CallID(i.CallID)...)
	w.b = append(w.b, `","type":"function","function":{"name":"`...)
	w.b = append(w.b, transcript.CallName(i.Name)...)
	w.b = append(w.b, `","arguments":`...)
	w.b = transcript.AppendQuotedArguments(w.b, i.Arguments)
	w.b = append(w.b, "}},"...)
}

// results writes the results of a batch. The role tool carries text alone, so their images follow in a message of the
// user, each behind the label that the results' texts use.
func (w *writer) results(b transcript.Block) {
	images := w.parts[:0]
	for _, i := range b.Items {
		w.b = append(w.b, `{"role":"tool","tool_call_id":"`...)
		w.b = append(w.b, transcript.CallID(i.CallID)...)
		w.b = append(w.b, `","content":`...)
		w.b = rawjson.AppendString(w.b, transcript.Plain(i.Text))
		w.b = append(w.b, "},"...)
		if !w.r.AcceptsImages {
			continue
		}
		for k := range i.Images {
			if m := &i.Images[k]; len(m.Data) > 0 {
				images = append(images, transcript.Part{Text: transcript.Label(m)}, transcript.Part{Image: m})
			}
		}
	}
	if len(images) > 0 {
		w.content(images)
	}
	w.parts = images
}

func (w *writer) tools() error {
	if len(w.r.Tools) == 0 {
		return nil
	}
	w.b = append(w.b, `,"tools":[`...)
	for i := range w.r.Tools {
		t := &w.r.Tools[i]
		w.b = append(w.b, `{"type":"function","function":{"name":`...)
		w.b = rawjson.AppendString(w.b, t.Name)
		w.b = append(w.b, `,"description":`...)
		w.b = rawjson.AppendString(w.b, t.Description)
		w.b = append(w.b, `,"parameters":`...)
		var err error
		if w.b, err = schema.Root(w.b, t.Schema, true); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		w.b = append(w.b, "}},"...)
	}
	w.b = rawjson.Close(w.b, ']')
	return nil
}

func (w *writer) sampling() {
	if w.r.MaxTokens > 0 {
		w.b = append(w.b, ',')
		w.b = rawjson.AppendString(w.b, w.limit)
		w.b = append(w.b, ':')
		w.b = rawjson.AppendInt(w.b, w.r.MaxTokens)
	}
	if w.r.Temperature != nil {
		w.b = append(w.b, `,"temperature":`...)
		w.b = rawjson.AppendFloat(w.b, *w.r.Temperature)
	}
	if w.r.TopP != nil {
		w.b = append(w.b, `,"top_p":`...)
		w.b = rawjson.AppendFloat(w.b, *w.r.TopP)
	}
}

func (w *writer) gear() error {
	gear := w.r.Gear
	if _, ok := wire.Budget(gear); ok {
		return wire.NoBudget(w.protocol, gear)
	}
	switch {
	case gear == "" || gear == wire.GearDefault:
		return nil
	case w.deepseek && gear == wire.GearOff:
		w.b = append(w.b, `,"thinking":{"type":"disabled"}`...)
		return nil
	case w.deepseek && gear == wire.GearMinimal:
		w.e.GearIgnored = true
		return nil
	}
	effort := gear
	switch {
	case gear == wire.GearOff:
		effort = "none"
	case gear == wire.GearMaximum && w.deepseek:
		effort = "max"
	case gear == wire.GearMaximum:
		effort = "xhigh"
	}
	w.b = append(w.b, `,"reasoning_effort":`...)
	w.b = rawjson.AppendString(w.b, effort)
	return nil
}
