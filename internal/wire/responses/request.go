package responses

import (
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/internal/wire/schema"
	"github.com/crystalkernel/crystal/internal/wire/transcript"
	"github.com/crystalkernel/crystal/points/model"
)

// Encode writes a request of the Responses API.
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
	w.b = append(w.b, `,"input":[`...)
	if strings.TrimSpace(w.r.System) != "" {
		w.message("system", "input_text", w.r.System)
	}
	for b, err := range transcript.Blocks(w.r.Items) {
		if err != nil {
			return err
		}
		for _, i := range b.Items {
			w.item(b.Role, i)
		}
	}
	w.b = rawjson.Close(w.b, ']')
	if err := w.tools(); err != nil {
		return err
	}
	w.b = append(w.b, `,"stream":true,"store":false,"include":["reasoning.encrypted_content"]`...)
	w.sampling()
	if err := w.gear(); err != nil {
		return err
	}
	w.b = append(w.b, '}')
	return nil
}

func (w *writer) item(role transcript.Role, i *model.Item) {
	switch role {
	case transcript.System:
		w.text("system", "input_text", i)
	case transcript.User:
		w.parts = transcript.Parts(w.parts[:0], i, w.r.AcceptsImages)
		if len(w.parts) > 0 {
			w.b = append(w.b, `{"type":"message","role":"user","content":[`...)
			w.content()
			w.b = append(w.b, "},"...)
		}
	case transcript.Assistant:
		switch i.Kind {
		case model.Reasoning:
			w.reasoning(i)
		case model.ToolCall:
			w.call(i)
		default:
			w.text("assistant", "output_text", i)
		}
	case transcript.Results:
		w.result(i)
	}
}

// content writes the parts and ends their list.
func (w *writer) content() {
	for _, p := range w.parts {
		if p.Image == nil {
			w.b = append(w.b, `{"type":"input_text","text":`...)
			w.b = rawjson.AppendString(w.b, p.Text)
		} else {
			w.b = append(w.b, `{"type":"input_image","image_url":`...)
			w.b = rawjson.AppendBase64(w.b, "data:"+p.Image.MediaType+";base64,", p.Image.Data)
		}
		w.b = append(w.b, "},"...)
	}
	w.b = rawjson.Close(w.b, ']')
}

func (w *writer) text(role, kind string, i *model.Item) {
	if strings.TrimSpace(i.Text) != "" {
		w.message(role, kind, transcript.Plain(i.Text))
	}
}

func (w *writer) message(role, kind, text string) {
	w.b = append(w.b, `{"type":"message","role":"`...)
	w.b = append(w.b, role...)
	w.b = append(w.b, `","content":[{"type":"`...)
	w.b = append(w.b, kind...)
	w.b = append(w.b, `","text":`...)
	w.b = rawjson.AppendString(w.b, text)
	w.b = append(w.b, "}]},"...)
}

// reasoning writes an item that this provider encrypted as it was, and any other reasoning as text.
func (w *writer) reasoning(i *model.Item) {
	if w.e.WithoutReasoning {
		return
	}
	own := transcript.Own(i, Protocol, w.provider)
	if own == nil {
		if text := transcript.Reasoning(i); text != "" {
			w.e.CarriesReasoning = true
			w.message("assistant", "output_text", text)
		}
		return
	}
	if len(own.Data) > 0 && own.Data[0] == '{' {
		w.e.CarriesReasoning = true
		w.b = append(append(w.b, own.Data...), ',')
	}
}

func (w *writer) call(i *model.Item) {
	w.b = append(w.b, `{"type":"function_call","call_id":"`...)
	w.b = append(w.b, transcript.CallID(i.CallID)...)
	w.b = append(w.b, `","name":"`...)
	w.b = append(w.b, transcript.CallName(i.Name)...)
	w.b = append(w.b, `","arguments":`...)
	w.b = transcript.AppendQuotedArguments(w.b, i.Arguments)
	w.b = append(w.b, "},"...)
}

func (w *writer) result(i *model.Item) {
	w.b = append(w.b, `{"type":"function_call_output","call_id":"`...)
	w.b = append(w.b, transcript.CallID(i.CallID)...)
	w.b = append(w.b, `","output":`...)
	w.parts = transcript.Parts(w.parts[:0], i, w.r.AcceptsImages)
	if transcript.HasImage(w.parts) {
		w.b = append(w.b, '[')
		w.content()
	} else {
		w.b = rawjson.AppendString(w.b, transcript.Plain(i.Text))
	}
	w.b = append(w.b, "},"...)
}

func (w *writer) tools() error {
	if len(w.r.Tools) == 0 {
		return nil
	}
	w.b = append(w.b, `,"tools":[`...)
	for i := range w.r.Tools {
		t := &w.r.Tools[i]
		w.b = append(w.b, `{"type":"function","name":`...)
		w.b = rawjson.AppendString(w.b, t.Name)
		w.b = append(w.b, `,"description":`...)
		w.b = rawjson.AppendString(w.b, t.Description)
		w.b = append(w.b, `,"parameters":`...)
		var err error
		if w.b, err = schema.Root(w.b, t.Schema, true); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		w.b = append(w.b, `,"strict":false},`...)
	}
	w.b = rawjson.Close(w.b, ']')
	return nil
}

func (w *writer) sampling() {
	if w.r.MaxTokens > 0 {
		w.b = append(w.b, `,"max_output_tokens":`...)
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
	effort := w.r.Gear
	if _, ok := wire.Budget(effort); ok {
		return wire.NoBudget(Protocol, effort)
	}
	summary := `,"summary":"auto"}`
	switch effort {
	case "", wire.GearDefault:
		return nil
	case wire.GearOff:
		effort, summary = "none", "}"
	case wire.GearMaximum:
		effort = "xhigh"
	}
	w.b = append(w.b, `,"reasoning":{"effort":`...)
	w.b = rawjson.AppendString(w.b, effort)
	w.b = append(w.b, summary...)
	return nil
}
