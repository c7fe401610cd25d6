package anthropic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/internal/wire/schema"
	"github.com/crystalkernel/crystal/internal/wire/transcript"
	"github.com/crystalkernel/crystal/points/model"
)

// defaultLimit is the output limit of a model whose entry has none: the API demands one.
const defaultLimit = 8192

// cacheMark is the member that ends the part of a request which the provider may keep.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// Encode writes a request of the Messages API.
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
	role  string // of the message that is open
	mark  int    // where the cache mark of the last block that may have one goes
	parts []transcript.Part
}

func (w *writer) request() error {
	think, ignored := w.thinkingOf(w.r.Gear)
	w.e.GearIgnored = ignored
	limit := w.r.MaxTokens
	if limit == 0 {
		limit = defaultLimit
	}
	w.b = append(w.b, `{"model":`...)
	w.b = rawjson.AppendString(w.b, w.r.Model)
	w.b = append(w.b, `,"max_tokens":`...)
	w.b = rawjson.AppendInt(w.b, limit+think.budget)
	w.system()
	w.b = append(w.b, `,"messages":[`...)
	if err := w.messages(); err != nil {
		return err
	}
	w.b = rawjson.Close(w.b, ']')
	if err := w.tools(); err != nil {
		return err
	}
	w.b = append(w.b, `,"stream":true`...)
	w.b = think.append(w.b)
	if !think.on() {
		if w.r.Temperature != nil {
			w.b = append(w.b, `,"temperature":`...)
			w.b = rawjson.AppendFloat(w.b, *w.r.Temperature)
		}
		if w.r.TopP != nil {
			w.b = append(w.b, `,"top_p":`...)
			w.b = rawjson.AppendFloat(w.b, *w.r.TopP)
		}
	}
	w.b = append(w.b, '}')
	return nil
}

// system writes the system text and the system messages, wherever they stand.
func (w *writer) system() {
	start := len(w.b)
	w.b = append(w.b, `,"system":[`...)
	empty := len(w.b)
	if strings.TrimSpace(w.r.System) != "" {
		w.text(w.r.System)
	}
	for _, i := range w.r.Items {
		if i.Kind == model.Message && i.Role == model.System && strings.TrimSpace(i.Text) != "" {
			w.text(transcript.Plain(i.Text))
		}
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b = append(w.b[:len(w.b)-2], cacheMark...)
	w.b = append(w.b, "}]"...)
}

func (w *writer) messages() error {
	for b, err := range transcript.Blocks(w.r.Items) {
		if err != nil {
			return err
		}
		for _, i := range b.Items {
			switch b.Role {
			case transcript.User:
				w.parts = transcript.Parts(w.parts[:0], i, w.r.AcceptsImages)
				for _, p := range w.parts {
					w.open("user")
					w.part(p)
					w.marked()
				}
			case transcript.Assistant:
				w.assistant(i)
			case transcript.Results:
				w.open("user")
				w.result(i)
				w.marked()
			}
		}
	}
	w.open("")
	if w.mark > 0 {
		w.b = slices.Insert(w.b, w.mark, []byte(cacheMark)...)
	}
	return nil
}

// open begins a message of a role, unless it is open already; a blank role ends the open one. The first message must be
// the user's.
func (w *writer) open(role string) {
	if role == w.role {
		return
	}
	switch {
	case w.role != "":
		w.b = append(rawjson.Close(w.b, ']'), "},"...)
	case role == "assistant":
		w.b = append(w.b, `{"role":"user","content":[{"type":"text","text":"(continued)"}]},`...)
	}
	w.role = role
	if role != "" {
		w.b = append(w.b, `{"role":"`...)
		w.b = append(w.b, role...)
		w.b = append(w.b, `","content":[`...)
	}
}

// marked notes that the block that was just written may carry the cache mark.
func (w *writer) marked() { w.mark = len(w.b) - len("},") }

func (w *writer) text(t string) {
	w.b = append(w.b, `{"type":"text","text":`...)
	w.b = rawjson.AppendString(w.b, t)
	w.b = append(w.b, "},"...)
}

func (w *writer) part(p transcript.Part) {
	if p.Image == nil {
		w.text(p.Text)
		return
	}
	w.b = append(w.b, `{"type":"image","source":{"type":"base64","media_type":`...)
	w.b = rawjson.AppendString(w.b, p.Image.MediaType)
	w.b = append(w.b, `,"data":`...)
	w.b = rawjson.AppendBase64(w.b, "", p.Image.Data)
	w.b = append(w.b, "}},"...)
}

func (w *writer) assistant(i *model.Item) {
	switch i.Kind {
	case model.Reasoning:
		w.reasoning(i)
	case model.ToolCall:
		w.open("assistant")
		w.b = append(w.b, `{"type":"tool_use","id":"`...)
		w.b = append(w.b, transcript.CallID(i.CallID)...)
		w.b = append(w.b, `","name":"`...)
		w.b = append(w.b, transcript.CallName(i.Name)...)
		w.b = append(w.b, `","input":`...)
		w.b = transcript.AppendArguments(w.b, i.Arguments)
		w.b = append(w.b, "},"...)
		w.marked()
	default:
		w.reply(transcript.Plain(i.Text))
	}
}

func (w *writer) reply(text string) {
	if strings.TrimSpace(text) != "" {
		w.open("assistant")
		w.text(text)
		w.marked()
	}
}

// reasoning writes a block that this provider signed as it was, and any other reasoning as text.
func (w *writer) reasoning(i *model.Item) {
	if w.e.WithoutReasoning {
		return
	}
	own := transcript.Own(i, Protocol, w.provider)
	switch {
	case own == nil:
		if text := transcript.Reasoning(i); text != "" {
			w.e.CarriesReasoning = true
			w.reply(text)
		}
		return
	case string(own.Data) == wire.Unsigned || len(own.Data) == 0:
		return
	}
	w.e.CarriesReasoning = true
	w.open("assistant")
	if own.Data[0] == '{' { // the provider keeps the text to itself
		w.b = append(append(w.b, own.Data...), ',')
		return
	}
	w.b = append(w.b, `{"type":"thinking","thinking":`...)
	w.b = rawjson.AppendString(w.b, transcript.Exact(i))
	w.b = append(w.b, `,"signature":`...)
	w.b = rawjson.AppendString(w.b, string(own.Data))
	w.b = append(w.b, "},"...)
}

func (w *writer) result(i *model.Item) {
	w.b = append(w.b, `{"type":"tool_result","tool_use_id":"`...)
	w.b = append(w.b, transcript.CallID(i.CallID)...)
	w.b = append(w.b, `","content":[`...)
	w.parts = transcript.Parts(w.parts[:0], i, w.r.AcceptsImages)
	if len(w.parts) == 0 {
		w.text("(no output)")
	}
	for _, p := range w.parts {
		w.part(p)
	}
	w.b = rawjson.Close(w.b, ']')
	if i.Status != model.Success {
		w.b = append(w.b, `,"is_error":true`...)
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
		w.b = append(w.b, `{"name":`...)
		w.b = rawjson.AppendString(w.b, t.Name)
		w.b = append(w.b, `,"description":`...)
		w.b = rawjson.AppendString(w.b, t.Description)
		w.b = append(w.b, `,"input_schema":`...)
		var err error
		if w.b, err = schema.Root(w.b, t.Schema, true); err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		w.b = append(w.b, "},"...)
	}
	w.b = rawjson.Close(w.b, ']')
	return nil
}
