package offline

import (
	"encoding/json"
	"fmt"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/points/model"
)

// load reads a scenario file. A bad value is an error, because a step that lost a part would play another story; an
// unknown key is noted with the first answer.
func load(path string) (*scenario, error) {
	root, err := jsonc.Read(path)
	if err != nil {
		return nil, fmt.Errorf("offline: scenario: %w", err)
	}
	l := loader{path: path}
	s := &scenario{path: path}
	f := l.fields(root)
	f.Known("$schema", "steps")
	s.repeat, _ = f.Bool("repeat")
	f.Done()
	var all []json.RawMessage
	if json.Unmarshal(root.JSON("steps"), &all) != nil || len(all) == 0 {
		f.Bad("steps", "an array of at least one step")
	}
	objects := root.Objects("steps")
	if len(objects) != len(all) {
		f.Bad("steps", "an array of objects")
	}
	for i, o := range objects {
		s.steps = append(s.steps, l.step(o, i+1))
	}
	if l.err != nil {
		return nil, l.err
	}
	s.taken = make([]bool, len(s.steps))
	s.notes = l.notes
	return s, nil
}

// loader gathers what is wrong with a file.
type loader struct {
	path  string
	notes []string
	err   error
}

func (l *loader) fields(o *jsonc.Object) *jsonc.Fields {
	return o.Fields(func(p jsonc.Problem) {
		if p.Kind == jsonc.BadValue {
			if l.err == nil {
				l.err = fmt.Errorf("offline: scenario %s: %s", l.path, p)
			}
			return
		}
		l.notes = append(l.notes, fmt.Sprintf("scenario %s: %s", l.path, p))
	})
}

func (l *loader) step(o *jsonc.Object, number int) step {
	var s step
	f := l.fields(o)
	f.Known("calls")
	a := &s.answer
	a.reasoning = text(f, o, "reasoning")
	a.text = text(f, o, "text")
	a.delay, _ = f.Duration("delay")
	if finish, ok := f.OneOf("finish", "stop", "tool_calls", "length", "content_filter", "context_overflow", "other"); ok {
		a.finish = model.Finish(finish)
	}
	if end, ok := f.OneOf("end", "early"); ok {
		a.early = end == "early"
	}
	if inner, ok := f.Object("expect"); ok {
		s.expect = l.expect(inner)
	}
	if inner, ok := f.Object("usage"); ok {
		a.usage = l.usage(inner)
	}
	if inner, ok := f.Object("error"); ok {
		a.failure = l.failure(inner, a.text != "")
	}
	f.Done()
	var all []json.RawMessage
	objects := o.Objects("calls")
	if o.Has("calls") && (json.Unmarshal(o.JSON("calls"), &all) != nil || len(all) != len(objects)) {
		f.Bad("calls", "an array of objects")
	}
	for i, c := range objects {
		a.calls = append(a.calls, l.call(c, number, i+1))
	}
	return s
}

// text takes a string that may be blank.
func text(f *jsonc.Fields, o *jsonc.Object, key string) string {
	f.Known(key)
	t, ok := o.Text(key)
	if !ok && o.Has(key) {
		f.Bad(key, "a string")
	}
	return t
}

func (l *loader) expect(o *jsonc.Object) expect {
	f := l.fields(o)
	e := expect{lastUser: text(f, o, "lastUser"), lastResult: text(f, o, "lastResult"), system: text(f, o, "system")}
	if p, ok := f.OneOf("purpose", "work", "plan", "side", "compaction", "review"); ok {
		e.purpose = model.Purpose(p)
	}
	e.tools, _ = f.Texts("tools")
	f.Done()
	return e
}

func (l *loader) usage(o *jsonc.Object) *model.Usage {
	f := l.fields(o)
	var u model.Usage
	const most = 1 << 30
	u.Input, _ = f.Integer("input", 0, most)
	u.Output, _ = f.Integer("output", 0, most)
	u.Reasoning, _ = f.Integer("reasoning", 0, most)
	u.CacheRead, _ = f.Integer("cacheRead", 0, most)
	u.CacheWrite, _ = f.Integer("cacheWrite", 0, most)
	u.Total, _ = f.Integer("total", 0, most)
	u.Estimated, _ = f.Bool("estimated")
	f.Done()
	return &u
}

// failure is an error as a provider would report it: in the middle of an answer when text came before or when there is
// no status, else in its place.
func (l *loader) failure(o *jsonc.Object, begun bool) *model.Error {
	f := l.fields(o)
	var e model.Error
	e.Status, _ = f.Integer("status", 300, 599)
	e.Message = text(f, o, "message")
	e.ProviderCode = text(f, o, "code")
	e.RetryAfter, e.HasRetry = f.Duration("retryAfter")
	f.Done()
	wire.Classify(&e, begun || e.Status == 0)
	return &e
}

func (l *loader) call(o *jsonc.Object, step, number int) call {
	f := l.fields(o)
	f.Known("arguments")
	c := call{id: text(f, o, "id"), name: text(f, o, "name")}
	f.Done()
	if c.id == "" {
		c.id = fmt.Sprintf("call_%d_%d", step, number)
	}
	if t, ok := o.Text("arguments"); ok {
		c.arguments = t
	} else {
		c.arguments = string(o.JSON("arguments"))
	}
	return c
}
