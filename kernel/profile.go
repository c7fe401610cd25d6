package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/composer"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/subagent"
)

// OwnRuntime is the type of the kernel's own runtime of subagents.
const OwnRuntime = "kernel"

// profile is a profile with the runtime that serves it.
type profile struct {
	subagent.Profile
	runtime subagent.Runtime
}

// Profiles returns the profiles of subagents that the next turn of a thread can start, by name; t may be nil. A profile of
// the workspace ([Config.Profiles]) takes the place of a contributed one with its name. The slice is the caller's.
func (k *Kernel) Profiles(t *Thread) []subagent.Profile {
	list := k.profiles(k.registry.View(), string(threadID(t)))
	out := make([]subagent.Profile, len(list))
	for i := range list {
		out[i] = list[i].Profile
	}
	return out
}

// profiles is the one catalog that all readers use. A type of runtime that the host or an earlier entry has is left out,
// and so is a name.
func (k *Kernel) profiles(v *contrib.View, thread string) []profile {
	entries := slices.Clone(subagent.Runtimes.Entries(v, contrib.ThreadID(thread)))
	if len(entries) == 0 {
		return nil
	}
	slices.SortStableFunc(entries, func(a, b contrib.Entry[subagent.Source]) int { return rank(&a) - rank(&b) })
	types := map[string]subagent.Runtime{}
	var list []profile
	for i := range entries {
		e := &entries[i]
		m, ok := e.Meta.(subagent.Meta)
		if !ok {
			continue
		}
		if types[m.Type] != nil {
			k.noteDuplicate(&e.EntryInfo, "the runtime type "+m.Type)
			continue
		}
		r := e.Value.Runtime()
		types[m.Type] = r
		for _, p := range m.Profiles {
			if _, taken := find(list, p.Name); taken {
				k.noteDuplicate(&e.EntryInfo, "the profile "+p.Name)
				continue
			}
			list = append(list, profile{p, r})
		}
	}
	for _, p := range k.config.Profiles {
		p.Runtime = or(p.Runtime, OwnRuntime)
		r := types[p.Runtime]
		if r == nil {
			continue
		}
		own := profile{p, r}
		if i := slices.IndexFunc(list, func(q profile) bool { return q.Name == p.Name }); i >= 0 {
			list[i] = own
		} else {
			list = append(list, own)
		}
	}
	slices.SortFunc(list, func(a, b profile) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// rank puts the host's own entries before those of others.
func rank(e *contrib.Entry[subagent.Source]) int {
	if e.Origin.Kind() == contrib.Builtin().Kind() {
		return 0
	}
	return 1
}

func find(list []profile, name string) (profile, bool) {
	i := slices.IndexFunc(list, func(p profile) bool { return p.Name == name })
	if i < 0 {
		return profile{}, false
	}
	return list[i], true
}

// noteDuplicate tells once that what an entry offers is left out.
func (k *Kernel) noteDuplicate(e *contrib.EntryInfo, what string) {
	k.mu.Lock()
	known := k.contested[e.ID]
	k.contested[e.ID] = true
	k.mu.Unlock()
	if known {
		return
	}
	k.registry.Record(contrib.Diagnostic{
		Code: codeContributionInvalid, Severity: contrib.Warning, Point: e.Point, EntryID: e.ID, Origin: e.Origin,
		Message: what + " is left out: an earlier contribution has the name",
		Params:  map[string]any{"point": e.Point, "reasonCode": "duplicate"},
	})
}

// profileSection names the profiles to an agent that can start one.
func profileSection(k *Kernel) prompt.Section {
	return composer.Steady(prompt.SectionFunc(prompt.SubagentProfiles, func(_ context.Context, c prompt.Context) (string, error) {
		if !slices.Contains(c.Tools, TaskTool) {
			return "", nil
		}
		list := k.profiles(k.registry.View(), c.Thread)
		if len(list) == 0 {
			return "", nil
		}
		var b strings.Builder
		b.WriteString("# Subagents\n\nThe tool `" + TaskTool + "` hands work to a subagent with a context of its own. Use it for work that is " +
			"large, stands on its own, and whose details you do not need to see. The profiles:\n")
		for i := range list {
			fmt.Fprintf(&b, "\n- %s: %s", list[i].Name, strings.Join(strings.Fields(list[i].Description), " "))
		}
		return b.String(), nil
	}))
}

// ownRuntime runs subagents as threads of the kernel.
type ownRuntime struct{}

func (r ownRuntime) Runtime() subagent.Runtime { return r }
func (ownRuntime) Type() string                { return OwnRuntime }

func (ownRuntime) Profiles() []subagent.Profile {
	return []subagent.Profile{
		{
			Name: "explore", Description: "Looks through the workspace and answers a question about it. It changes nothing.",
			Tools:  []string{"glob", "grep", "list", "read"},
			Prompt: exploreRole,
		},
		{
			Name: "general", Description: "Does a piece of work with all tools of this agent.",
			Prompt: generalRole,
		},
	}
}

const exploreRole = `# Your part

You are a subagent. Another agent has given you one question about the workspace. Look until you can answer it, change nothing, and answer
in one message: what you found, with paths and line numbers, and what you could not find. Nobody can answer questions of yours.`

const generalRole = `# Your part

You are a subagent. Another agent has given you one task. Do it completely and report in one message: what you did, what came of it, and
what is left to do. The other agent sees that message and nothing else. Nobody can answer questions of yours.`

// Create makes the session of a task that [Kernel.runTask] started.
func (ownRuntime) Create(ctx context.Context, _ subagent.Spec) (subagent.Session, error) {
	c, ok := ctx.Value(childKey{}).(*child)
	if !ok {
		return nil, errNoTurn
	}
	return ownSession{c}, nil
}

type ownSession struct{ child *child }

// Run runs the task as a turn.
func (s ownSession) Run(ctx context.Context, in subagent.Input, _ func(subagent.Event) error) (*subagent.Outcome, error) {
	r, err := s.child.run(ctx, in.Text)
	if err != nil {
		return nil, err
	}
	if r.Stop == Completed {
		return &subagent.Outcome{Text: r.Text}, nil
	}
	text := "The subagent stopped before it was done: " + string(r.Stop) + "."
	if r.Text != "" {
		text += " It said last:\n\n" + r.Text
	}
	return &subagent.Outcome{Text: text, Failed: true}, ctx.Err()
}

// Cancel does nothing: the run ends with its context.
func (ownSession) Cancel(context.Context) error { return nil }

// Close does nothing: the thread ends with the call.
func (ownSession) Close(context.Context) error { return nil }
