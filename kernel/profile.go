package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/subagent"
)

// profile is a profile with the runtime that serves it.
type profile struct {
	subagent.Profile
	runtime subagent.Runtime
	entry   contrib.EntryInfo // of the runtime
}

// Profiles returns the profiles of subagents that the next turn of a thread can start, by name; t may be nil. A profile of
// the workspace ([Config.Profiles]) takes the place of a contributed one with its name. The slice is the caller's.
func (k *Kernel) Profiles(t *Thread) []subagent.Profile {
	list := k.profiles(k.registry.View(), string(threadID(t)))
	out := make([]subagent.Profile, len(list))
	for i := range list {
		out[i] = list[i].Profile
		out[i].Tools = slices.Clone(out[i].Tools)
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
	types := map[string]profile{} // without a name
	var list []profile
	for i := range entries {
		e := &entries[i]
		m, ok := e.Meta.(subagent.Meta)
		if !ok {
			continue
		}
		if holder, taken := types[m.Type]; taken {
			k.noteLost(&e.EntryInfo, "the type of runtime "+m.Type, m.Type, &holder.entry)
			continue
		}
		own := profile{runtime: e.Value.Runtime(), entry: e.EntryInfo}
		types[m.Type] = own
		for _, p := range m.Profiles {
			if holder, taken := find(list, p.Name); taken {
				k.noteLost(&e.EntryInfo, "the profile "+p.Name, p.Name, &holder.entry)
				continue
			}
			own.Profile = p
			list = append(list, own)
		}
	}
	for _, p := range k.config.Profiles {
		own, ok := types[p.Runtime]
		if !ok {
			continue
		}
		own.Profile = p
		list = append(slices.DeleteFunc(list, func(q profile) bool { return q.Name == p.Name }), own)
	}
	slices.SortFunc(list, func(a, b profile) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// workspaceProfiles takes the profiles of a configuration over. What cannot be one is logged and left out.
func (k *Kernel) workspaceProfiles(list []subagent.Profile) []subagent.Profile {
	var out []subagent.Profile
	for _, p := range list {
		p.Runtime, p.Tools = or(p.Runtime, OwnRuntime), slices.Clone(p.Tools)
		if err := p.Check(); err != nil {
			k.log.Error("a profile of the workspace is left out", "error", err)
			continue
		}
		out = append(out, p)
	}
	return out
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

// lostName is something that an entry offers under a name that another one keeps.
type lostName struct {
	entry uint64
	what  string
}

// noteLost tells once that something of an entry is left out, because another entry keeps its name.
func (k *Kernel) noteLost(e *contrib.EntryInfo, what, name string, holder *contrib.EntryInfo) {
	k.mu.Lock()
	known := k.lost[lostName{e.ID, what}]
	k.lost[lostName{e.ID, what}] = true
	k.mu.Unlock()
	if known {
		return
	}
	reason := "duplicate"
	if holder.Origin.Kind() == contrib.Builtin().Kind() {
		reason = "reserved"
	}
	k.registry.Record(contrib.Diagnostic{
		Code: codeContributionInvalid, Severity: contrib.Warning, Point: e.Point, EntryID: e.ID, Origin: e.Origin,
		Message: what + " is left out: an earlier contribution has the name",
		Params:  map[string]any{"point": e.Point, "name": name, "reasonCode": reason},
	})
}

// profilesText is what the prompt of an agent that can start subagents says about them.
func profilesText(list []profile) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Subagents\n\nThe tool `" + TaskTool + "` hands work to a subagent with a context of its own. Use it for work that is " +
		"large, stands on its own, and whose details you do not need to see. The profiles:\n")
	for i := range list {
		fmt.Fprintf(&b, "\n- %s: %s", list[i].Name, strings.Join(strings.Fields(list[i].Description), " "))
	}
	return b.String()
}
