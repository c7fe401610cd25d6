package kernel

import (
	"context"
	"fmt"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
)

// ExplainedPrompt is the system prompt of the next request, and what it is made of.
type ExplainedPrompt struct {
	Mode  string       `json:"mode"`
	Parts []PromptPart `json:"parts"` // in the order in which they were made; what has no effect stands behind the others of its kind
	// Text is the prompt. Its bytes are the sum of those of the parts.
	Text   string `json:"-"`
	Tokens int    `json:"tokens"` // estimate of Text
}

// PartKind says what a part of a prompt is.
type PartKind string

// The kinds of parts, in the order in which a prompt is made.
const (
	SectionPart      PartKind = "section"      // a contribution to prompt.section
	SeparatorsPart   PartKind = "separators"   // what stands between the sections
	AssemblerPart    PartKind = "assembler"    // a contribution to prompt.assembler; its bytes are what it added to the sections
	PlaceholdersPart PartKind = "placeholders" // what the values of placeholders are longer than their names
	HookPart         PartKind = "hook"         // a contribution to hook.prompt or rawhook.rewrite_prompt
	ContextPart      PartKind = "context"      // a contribution to agent.context
)

// PromptPart is one contribution to the system prompt. Bytes and tokens are what it adds to each request; a part that takes
// something away has negative ones.
type PromptPart struct {
	Kind PartKind `json:"kind"`
	Name string   `json:"name,omitempty"`
	Explained
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"` // estimated

	// Text is that of a section that has effect, before its placeholders are bound.
	Text string `json:"-"`
	key  string // of the entry
}

// ExplainPrompt composes the prompt that the next request of a thread would carry, in the way of a turn, and says what each
// part of it is and costs, and what lost to it. thread is the id of an open or a stored thread, and o replaces what it says;
// a blank id stands for a new thread with these options. No model is called, nothing is stored and no observer is told; an
// open thread is waited for. The error is that of a thread, of o, or of a built-in source of tools.
func (k *Kernel) ExplainPrompt(ctx context.Context, thread string, o Options) (*ExplainedPrompt, error) {
	ctx, x, done, err := k.rehearse(ctx, thread, o)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := x.compose(ctx)
	if err != nil {
		return nil, err
	}
	out := &ExplainedPrompt{Mode: x.turn.mode, Text: text, Tokens: estimate.Text(text)}
	out.Parts = x.parts(text)
	return out, nil
}

// compose makes the prompt and takes down how.
func (x *explanation) compose(ctx context.Context) (string, error) {
	r := x.turn
	if err := r.plan.prepareContexts(ctx, r); err != nil {
		return "", err
	}
	in, chat := r.inputs()
	in.Trace = x.step
	r.thread.prompts.Begin(in, chat)
	text, _, err := r.instructions(ctx, x.items)
	if err != nil {
		return "", fmt.Errorf("kernel: compose the prompt: %w", err)
	}
	return text, nil
}

// step takes down a step of composing. What was composed before counts no more when the sections are asked again.
func (x *explanation) step(s composer.Step) {
	if n := len(x.steps); s.Kind == composer.SectionStep && n > 0 && x.steps[n-1].Kind != composer.SectionStep {
		x.steps = nil
	}
	x.steps = append(x.steps, s)
}

// parts turns the steps into parts. Their bytes sum up to those of text.
func (x *explanation) parts(text string) []PromptPart {
	parts, composed := x.sections()
	for _, s := range x.steps {
		p := PromptPart{Kind: HookPart}
		switch s.Kind {
		case composer.SectionStep:
			continue
		case composer.PlaceholderStep:
			p.Kind = PlaceholdersPart
		case composer.AssemblerStep:
			p.Kind = AssemblerPart
		}
		if s.Entry != nil {
			p.Explained, p.Name, p.key = explained(s.Entry), s.Entry.Label, s.Entry.String()
		}
		p.grow(composed, s.Text)
		if s.Kind == composer.AssemblerStep {
			takeOver(&p, parts, composed, s.Text)
		}
		composed = s.Text
		if p.Kind != PlaceholdersPart || p.Bytes != 0 {
			parts = append(parts, p)
		}
	}
	return append(append(parts, x.idle()...), x.contexts(composed)...)
}

func (p *PromptPart) grow(before, after string) {
	p.Bytes, p.Tokens = len(after)-len(before), estimate.Text(after)-estimate.Text(before)
}

// free takes what a part costs out of it, and puts it to another one.
func (p *PromptPart) free(to *PromptPart) {
	to.Bytes, to.Tokens = to.Bytes+p.Bytes, to.Tokens+p.Tokens
	p.Bytes, p.Tokens = 0, 0
}

// takeOver says which sections an assembler left out.
func takeOver(assembler *PromptPart, parts []PromptPart, composed, assembled string) {
	for i := range parts {
		p := &parts[i]
		if p.Lost != "" || strings.Contains(assembled, or(p.Text, composed)) {
			continue
		}
		p.free(assembler)
		p.Lost, p.LostTo = LostTakenOver, assembler.Owner
	}
}

// sections are the contributions to prompt.section and what stands between them; joined is all of it.
func (x *explanation) sections() (parts []PromptPart, joined string) {
	over, shadowed := x.infos(prompt.Sections)
	known := map[uint64]bool{}
	var texts []string
	for _, s := range x.steps {
		if s.Kind != composer.SectionStep {
			continue
		}
		known[s.Entry.ID] = true
		p := PromptPart{Kind: SectionPart, Name: s.Name, Explained: explained(s.Entry), Text: s.Text}
		p.Beats = over[s.Entry.ID]
		if p.grow("", s.Text); s.Text == "" {
			p.Lost = LostBlank
		} else {
			texts = append(texts, s.Text)
		}
		parts = append(parts, p)
	}
	joined = strings.Join(texts, composer.Separator)
	if n := len(texts); n > 1 {
		p := PromptPart{Kind: SeparatorsPart}
		p.grow("", strings.Repeat(composer.Separator, n-1))
		parts = append(parts, p)
	}
	for _, e := range prompt.Sections.Entries(x.view(), x.thread()) {
		if known[e.ID] {
			continue
		}
		p := PromptPart{Kind: SectionPart, Name: sectionName(&e.EntryInfo), Explained: explained(&e.EntryInfo)}
		p.Beats, p.Lost = over[e.ID], LostUnavailable
		if c := x.failed[e.ID]; c != nil {
			p.Lost, p.Detail = LostFailed, why(c)
		} else if by := x.composer(); len(x.steps) == 0 && by != nil {
			p.Lost, p.LostTo = LostTakenOver, by.Origin.String()
		}
		parts = append(parts, p)
	}
	for i := range shadowed {
		e := &shadowed[i]
		parts = append(parts, PromptPart{Kind: SectionPart, Name: sectionName(e.info), Explained: e.Explained})
	}
	return parts, joined
}

func sectionName(e *contrib.EntryInfo) string {
	name, _ := e.Meta.(string)
	return or(name, e.Label)
}

// composer is the entry of agent.context that made the instructions in place of the built-in one; nil for none.
func (x *explanation) composer() *contrib.EntryInfo {
	for _, p := range x.providers {
		if p.source.composes {
			return &p.source.entry.EntryInfo
		}
	}
	return nil
}

// idle are the assemblers and prompt hooks that took no step.
func (x *explanation) idle() []PromptPart {
	stepped := map[uint64]bool{}
	for _, s := range x.steps {
		if s.Entry != nil {
			stepped[s.Entry.ID] = true
		}
	}
	var parts []PromptPart
	add := func(kind PartKind, e *contrib.EntryInfo, lost Loss, to string) {
		if stepped[e.ID] {
			return
		}
		p := PromptPart{Kind: kind, Name: e.Label, Explained: explained(e), key: e.String()}
		p.Lost, p.LostTo = lost, to
		if c := x.failed[e.ID]; c != nil {
			p.Lost, p.LostTo, p.Detail = LostFailed, "", why(c)
		}
		parts = append(parts, p)
	}
	assemblers := prompt.Assemblers.Infos(x.view(), x.thread())
	for i := range assemblers {
		last := &assemblers[len(assemblers)-1]
		if e := &assemblers[i]; e != last {
			add(AssemblerPart, e, LostShadowed, last.Origin.String())
		} else {
			add(AssemblerPart, e, LostBlank, "")
		}
	}
	for _, point := range []contrib.AnyPoint{hook.Prompts, rawhook.RewritePrompts} {
		infos := point.Infos(x.view(), x.thread())
		for i := range infos {
			add(HookPart, &infos[i], LostUnavailable, "")
		}
	}
	return parts
}

// contexts are the contributions to agent.context where more than the built-in one has a say. What the built-in one composed
// is counted already.
func (x *explanation) contexts(composed string) []PromptPart {
	over, shadowed := x.infos(agent.Contexts)
	var parts []PromptPart
	for _, step := range x.providers {
		e := &step.source.entry.EntryInfo
		p := PromptPart{Kind: ContextPart, Name: e.Label, Explained: explained(e)}
		p.grow(step.before, step.after)
		if step.source.composes && len(x.steps) > 0 {
			p.Bytes, p.Tokens = p.Bytes-len(composed), p.Tokens-estimate.Text(composed)
		}
		p.Beats = over[e.ID]
		if c := x.failed[e.ID]; c != nil {
			p.Lost, p.Detail = LostFailed, why(c)
		}
		parts = append(parts, p)
	}
	for _, e := range shadowed {
		parts = append(parts, PromptPart{Kind: ContextPart, Name: e.Label, Explained: e.Explained})
	}
	return parts
}
