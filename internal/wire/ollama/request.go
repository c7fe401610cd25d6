package ollama

import (
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/internal/wire/schema"
	"github.com/crystalkernel/crystal/internal/wire/transcript"
	"github.com/crystalkernel/crystal/points/model"
)

// Encode writes a request of the chat endpoint.
func (codec) Encode(e *wire.Encoding, r *model.Request) error {
	w := writer{e: e, r: r, b: e.Body}
	err := w.request()
	e.Body = w.b
	return err
}

// writer writes one request.
type writer struct {
	e *wire.Encoding
	r *model.Request
	b []byte
}

func (w *writer) request() error {
	w.b = append(w.b, `{"model":`...)
	w.b = rawjson.AppendString(w.b, w.r.Model)
	w.b = append(w.b, `,"messages":[`...)
	if strings.TrimSpace(w.r.System) != "" {
		w.message("system", w.r.System, nil)
	}
	for b, err := range transcript.Blocks(w.r.Items) {
		if err != nil {
			return err
		}
		w.block(b)
	}
	w.b = rawjson.Close(w.b, ']')
	if err := w.tools(); err != nil {
		return err
	}
	w.b = append(w.b, `,"stream":true`...)
	if err := w.gear(); err != nil {
		return err
	}
	w.options()
	w.b = append(w.b, '}')
	return nil
}

func (w *writer) block(b transcript.Block) {
	switch b.Role {
	case transcript.Assistant:
		w.assistant(b.Items)
	case transcript.Results:
		for k, i := range b.Items {
			w.result(i, b.Calls[k])
		}
	case transcript.System:
		for _, i := range b.Items {
			if strings.TrimSpace(i.Text) != "" {
				w.message("system", transcript.Plain(i.Text), nil)
			}
		}
	default:
		for _, i := range b.Items {
			images := w.images(i)
			text := transcript.Plain(i.Text)
			if strings.TrimSpace(text) == "" {
				text = ""
			}
			if text != "" || len(images) > 0 {
				w.message("user", text, images)
			}
		}
	}
}

// images are the images of an item that are sent.
func (w *writer) images(i *model.Item) []model.Image {
	if !w.r.AcceptsImages || len(i.Images) == 0 {
		return nil
	}
	sent := make([]model.Image, 0, len(i.Images))
	for _, m := range i.Images {
		if len(m.Data) > 0 {
			sent = append(sent, m)
		}
	}
	return sent
}

func (w *writer) message(role, text string, images []model.Image) {
	w.b = append(w.b, `{"role":"`...)
	w.b = append(w.b, role...)
	w.b = append(w.b, `","content":`...)
	w.b = rawjson.AppendString(w.b, text)
	w.appendImages(images)
	w.b = append(w.b, "},"...)
}

func (w *writer) appendImages(images []model.Image) {
	if len(images) == 0 {
		return
	}
	w.b = append(w.b, `,"images":[`...)
	for k := range images {
		w.b = append(rawjson.AppendBase64(w.b, "", images[k].Data), ',')
	}
	w.b = rawjson.Close(w.b, ']')
}

// assistant writes the reasoning, text and calls of one turn as one message.
func (w *writer) assistant(items []*model.Item) {
	text, thinking, calls := "", "", 0
	for _, i := range items {
		switch i.Kind {
		case model.Message:
			text = transcript.Join(text, transcript.Plain(i.Text))
		case model.Reasoning:
			if !w.e.WithoutReasoning {
				thinking = transcript.Join(thinking, transcript.Reasoning(i))
			}
		case model.ToolCall:
			calls++
		}
	}
	if text == "" && thinking == "" && calls == 0 {
		return
	}
	w.b = append(w.b, `{"role":"assistant","content":`...)
	w.b = rawjson.AppendString(w.b, text)
	if thinking != "" {
		w.e.CarriesReasoning = true
		w.b = append(w.b, `,"thinking":`...)
		w.b = rawjson.AppendString(w.b, thinking)
	}
	if calls > 0 {
		w.b = append(w.b, `,"tool_calls":[`...)
		w.calls(items)
		w.b = rawjson.Close(w.b, ']')
	}
	w.b = append(w.b, "},"...)
}

func (w *writer) calls(items []*model.Item) {
	index := 0
	for _, i := range items {
		if i.Kind != model.ToolCall {
			continue
		}
		w.b = append(w.b, `{"function":{"index":`...)
		w.b = rawjson.AppendInt(w.b, index)
		w.b = append(w.b, `,"name":"`...)
		w.b = append(w.b, transcript.CallName(i.Name)...)
		w.b = append(w.b, `","arguments":`...)
		w.b = transcript.AppendArguments(w.b, i.Arguments)
		w.b = append(w.b, "}},"...)
		index++
	}
}

// result writes a result. No member says that it failed, so its text does.
func (w *writer) result(i, call *model.Item) {
	text := transcript.Plain(i.Text)
	if i.Status != model.Success && !strings.HasPrefix(text, "Error: ") {
		text = "Error: " + text
	}
	w.b = append(w.b, `{"role":"tool","tool_name":"`...)
	w.b = append(w.b, transcript.CallName(call.Name)...)
	w.b = append(w.b, `","content":`...)
	w.b = rawjson.AppendString(w.b, text)
	w.appendImages(w.images(i))
	w.b = append(w.b, "},"...)
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
		if w.b, err = schema.Root(w.b, t.Schema, false); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		w.b = append(w.b, "}},"...)
	}
	w.b = rawjson.Close(w.b, ']')
	return nil
}

func (w *writer) gear() error {
	gear := w.r.Gear
	if _, ok := wire.Budget(gear); ok {
		return wire.NoBudget(Protocol, gear)
	}
	switch gear {
	case "", wire.GearDefault:
		return nil
	case wire.GearMinimal:
		w.e.GearIgnored = true
		return nil
	case wire.GearOff:
		w.b = append(w.b, `,"think":false`...)
		return nil
	case wire.GearMaximum:
		gear = wire.GearHigh
	}
	w.b = append(w.b, `,"think":`...)
	w.b = rawjson.AppendString(w.b, gear)
	return nil
}

func (w *writer) options() {
	start := len(w.b)
	w.b = append(w.b, `,"options":{`...)
	empty := len(w.b)
	if w.r.MaxTokens > 0 {
		w.b = append(w.b, `"num_predict":`...)
		w.b = append(rawjson.AppendInt(w.b, w.r.MaxTokens), ',')
	}
	if w.r.Temperature != nil {
		w.b = append(w.b, `"temperature":`...)
		w.b = append(rawjson.AppendFloat(w.b, *w.r.Temperature), ',')
	}
	if w.r.TopP != nil {
		w.b = append(w.b, `"top_p":`...)
		w.b = append(rawjson.AppendFloat(w.b, *w.r.TopP), ',')
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b[len(w.b)-1] = '}'
}
