package gemini

import (
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
	"github.com/crystalkernel/crystal/internal/wire/transcript"
	"github.com/crystalkernel/crystal/points/model"
)

// unchecked is the signature that the provider documents for calls that another model made. It is sent only after the
// provider has refused the signatures that are there.
const unchecked = "skip_thought_signature_validator"

// Encode writes a request of generateContent.
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
	w.b = append(w.b, `{"contents":[`...)
	for b, err := range transcript.Blocks(w.r.Items) {
		if err != nil {
			return err
		}
		if b.Role != transcript.System {
			w.content(b)
		}
	}
	w.b = rawjson.Close(w.b, ']')
	w.system()
	if err := w.tools(); err != nil {
		return err
	}
	if err := w.config(); err != nil {
		return err
	}
	w.b = append(w.b, '}')
	return nil
}

// content writes a block as one content; a block of which nothing is left is left out.
func (w *writer) content(b transcript.Block) {
	start := len(w.b)
	role := "user"
	if b.Role == transcript.Assistant {
		role = "model"
	}
	w.b = append(w.b, `{"role":"`...)
	w.b = append(w.b, role...)
	w.b = append(w.b, `","parts":[`...)
	empty := len(w.b)
	for k, i := range b.Items {
		switch b.Role {
		case transcript.Assistant:
			w.assistant(i)
		case transcript.Results:
			w.result(i, b.Calls[k])
		default:
			w.parts = transcript.Parts(w.parts[:0], i, w.r.AcceptsImages)
			w.write(w.parts)
		}
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b = append(rawjson.Close(w.b, ']'), "},"...)
}

func (w *writer) write(parts []transcript.Part) {
	for _, p := range parts {
		if p.Image != nil {
			w.image(p.Image)
			continue
		}
		w.text(p.Text, "")
	}
}

func (w *writer) text(text, signature string) {
	w.b = append(w.b, `{"text":`...)
	w.b = rawjson.AppendString(w.b, text)
	w.signed(signature)
}

// signed ends a part.
func (w *writer) signed(signature string) {
	if signature != "" {
		w.b = append(w.b, `,"thoughtSignature":`...)
		w.b = rawjson.AppendString(w.b, signature)
	}
	w.b = append(w.b, "},"...)
}

func (w *writer) image(m *model.Image) {
	w.b = append(w.b, `{"inlineData":{"mimeType":`...)
	w.b = rawjson.AppendString(w.b, m.MediaType)
	w.b = append(w.b, `,"data":`...)
	w.b = rawjson.AppendBase64(w.b, "", m.Data)
	w.b = append(w.b, "}},"...)
}

// signature is the one that this provider put on the item.
func (w *writer) signature(i *model.Item) string {
	own := transcript.Own(i, Protocol, w.provider)
	if own == nil || string(own.Data) == wire.Unsigned || w.e.WithoutReasoning {
		return ""
	}
	w.e.CarriesReasoning = true
	return string(own.Data)
}

func (w *writer) assistant(i *model.Item) {
	switch i.Kind {
	case model.Reasoning:
		w.reasoning(i)
	case model.ToolCall:
		w.call(i)
	default:
		if strings.TrimSpace(i.Text) != "" {
			w.text(transcript.Plain(i.Text), w.signature(i))
		}
	}
}

// reasoning writes a thought that this provider signed as it was, and that of another one as text.
func (w *writer) reasoning(i *model.Item) {
	text := transcript.Reasoning(i)
	if w.e.WithoutReasoning || text == "" {
		return
	}
	if transcript.Own(i, Protocol, w.provider) == nil {
		w.e.CarriesReasoning = true
		w.text(text, "")
		return
	}
	if signature := w.signature(i); signature != "" {
		w.b = append(w.b, `{"text":`...)
		w.b = rawjson.AppendString(w.b, transcript.Exact(i))
		w.b = append(w.b, `,"thought":true`...)
		w.signed(signature)
	}
}

func (w *writer) call(i *model.Item) {
	w.b = append(w.b, `{"functionCall":{`...)
	w.id(i)
	w.b = append(w.b, `"name":"`...)
	w.b = append(w.b, transcript.CallName(i.Name)...)
	w.b = append(w.b, `","args":`...)
	w.b = transcript.AppendArguments(w.b, i.Arguments)
	w.b = append(w.b, '}')
	signature := w.signature(i)
	switch {
	case w.e.WithoutReasoning:
		signature = unchecked
	case signature == "":
		w.e.CarriesReasoning = true // a model that demands signatures refuses a call without one
	}
	w.signed(signature)
}

// id writes the id of a call, unless it was made here.
func (w *writer) id(i *model.Item) {
	if !strings.HasPrefix(i.CallID, madeHere) {
		w.b = append(w.b, `"id":"`...)
		w.b = append(w.b, transcript.CallID(i.CallID)...)
		w.b = append(w.b, `",`...)
	}
}

func (w *writer) result(i, call *model.Item) {
	w.b = append(w.b, `{"functionResponse":{`...)
	w.id(i)
	w.b = append(w.b, `"name":"`...)
	w.b = append(w.b, transcript.CallName(call.Name)...)
	key := "error"
	if i.Status == model.Success {
		key = "result"
	}
	w.b = append(w.b, `","response":{"`...)
	w.b = append(w.b, key...)
	w.b = append(w.b, `":`...)
	w.b = rawjson.AppendString(w.b, transcript.Plain(i.Text))
	w.b = append(w.b, '}')
	var images []*model.Image
	for k := range i.Images {
		if m := &i.Images[k]; w.r.AcceptsImages && len(m.Data) > 0 {
			images = append(images, m)
		}
	}
	if len(images) > 0 && !older(w.r.Model) {
		w.b = append(w.b, `,"parts":[`...)
		for _, m := range images {
			w.image(m)
		}
		w.b = rawjson.Close(w.b, ']')
		images = nil
	}
	w.b = append(w.b, "}},"...)
	for _, m := range images {
		w.image(m)
	}
}

// system writes the system text and the system messages, wherever they stand.
func (w *writer) system() {
	start := len(w.b)
	w.b = append(w.b, `,"systemInstruction":{"parts":[`...)
	empty := len(w.b)
	if strings.TrimSpace(w.r.System) != "" {
		w.text(w.r.System, "")
	}
	for _, i := range w.r.Items {
		if i.Kind == model.Message && i.Role == model.System && strings.TrimSpace(i.Text) != "" {
			w.text(transcript.Plain(i.Text), "")
		}
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return
	}
	w.b = append(rawjson.Close(w.b, ']'), '}')
}

func (w *writer) tools() error {
	if len(w.r.Tools) == 0 {
		return nil
	}
	w.b = append(w.b, `,"tools":[{"functionDeclarations":[`...)
	for i := range w.r.Tools {
		t := &w.r.Tools[i]
		w.b = append(w.b, `{"name":`...)
		w.b = rawjson.AppendString(w.b, t.Name)
		w.b = append(w.b, `,"description":`...)
		w.b = rawjson.AppendString(w.b, t.Description)
		parameters, err := w.schemas.Dialect(t.Schema)
		if err != nil {
			return fmt.Errorf("tool %q: %w", t.Name, err)
		}
		w.b = append(w.b, `,"parameters":`...)
		w.b = append(append(w.b, parameters...), "},"...)
	}
	w.b = append(rawjson.Close(w.b, ']'), "}]"...)
	return nil
}

func (w *writer) config() error {
	start := len(w.b)
	w.b = append(w.b, `,"generationConfig":{`...)
	empty := len(w.b)
	if w.r.Temperature != nil {
		w.b = append(w.b, `"temperature":`...)
		w.b = append(rawjson.AppendFloat(w.b, *w.r.Temperature), ',')
	}
	if w.r.TopP != nil {
		w.b = append(w.b, `"topP":`...)
		w.b = append(rawjson.AppendFloat(w.b, *w.r.TopP), ',')
	}
	if w.r.MaxTokens > 0 {
		w.b = append(w.b, `"maxOutputTokens":`...)
		w.b = append(rawjson.AppendInt(w.b, w.r.MaxTokens), ',')
	}
	if err := w.gear(); err != nil {
		return err
	}
	if len(w.b) == empty {
		w.b = w.b[:start]
		return nil
	}
	w.b[len(w.b)-1] = '}'
	return nil
}

// levels are the words of models that think by level, and budgets the tokens of those that think by budget.
var (
	levels  = map[string]string{wire.GearLow: "LOW", wire.GearMedium: "MEDIUM", wire.GearHigh: "HIGH"}
	budgets = map[string]int{wire.GearLow: 1024, wire.GearMedium: 8192, wire.GearHigh: 24576}
)

func (w *writer) gear() error {
	gear, byBudget := w.r.Gear, older(w.r.Model)
	if n, ok := wire.Budget(gear); ok {
		if !byBudget {
			return fmt.Errorf("%w: %s thinks by level and has no token budget (%s)", wire.ErrGear, w.r.Model, gear)
		}
		w.thinking("thinkingBudget", rawjson.AppendInt(nil, n))
		return nil
	}
	switch gear {
	case "", wire.GearDefault:
	case wire.GearMinimal, wire.GearMaximum:
		w.e.GearIgnored = true
	case wire.GearOff:
		if !byBudget {
			return fmt.Errorf("%w: thinking of %s can't be switched off", wire.ErrGear, w.r.Model)
		}
		w.thinking("thinkingBudget", []byte("0"))
	default:
		if n, ok := budgets[gear]; ok && byBudget {
			w.thinking("thinkingBudget", rawjson.AppendInt(nil, n))
			return nil
		}
		level := levels[gear]
		if level == "" {
			level = gear
		}
		w.thinking("thinkingLevel", rawjson.AppendString(nil, level))
	}
	return nil
}

func (w *writer) thinking(key string, value []byte) {
	w.b = append(w.b, `"thinkingConfig":{"includeThoughts":true,"`...)
	w.b = append(w.b, key...)
	w.b = append(w.b, `":`...)
	w.b = append(w.b, value...)
	w.b = append(w.b, "},"...)
}
