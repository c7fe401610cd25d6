package exectool

import (
	"context"
	"encoding/json"

	"github.com/crystalkernel/crystal/points/tool"
)

// classify judges a call: it writes in the workspace, and may do more by the paths that it is given. Nothing makes it less.
func (p *program) classify(_ context.Context, c tool.Call, workspace string) tool.Classification {
	k := tool.Classification{Risk: tool.Write, Authority: tool.Workspace, Summary: c.Tool, Always: p.always}
	if len(p.tool.Paths) == 0 {
		return k
	}
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Arguments, &args) != nil {
		return k // the call fails when it is run
	}
	f := p.source.fence(workspace)
	for _, name := range p.tool.Paths {
		for _, path := range texts(args[name]) {
			one := tool.Classification{Risk: tool.Write, Authority: tool.Workspace}
			place, err := f.Judge(path)
			switch {
			case err != nil:
				// It can't be told where it leads.
				one.Risk, one.Authority = tool.Privileged, tool.OutsideWorkspace
				one.Summary = c.Tool + ": the path of " + name + " can't be judged: " + err.Error()
			case place.Credential:
				one.Risk, one.Authority = tool.Forbidden, tool.PrivilegedEscalation
				one.Summary = c.Tool + " " + f.Show(place.Given) + ": holds credentials"
			case place.Outside:
				one.Authority = tool.OutsideWorkspace
				one.Summary = c.Tool + " " + f.Show(place.Given) + ": outside the workspace"
			case place.Guarded:
				one.Risk = tool.Privileged
				one.Summary = c.Tool + " " + f.Show(place.Given) + ": what lies there can make later code run"
			}
			k = k.Combine(one)
		}
	}
	k.Always = p.always
	return k
}

// texts are the strings in an argument: itself, or those of its elements that are strings.
func texts(raw json.RawMessage) []string {
	if one, ok := textOf(raw); ok {
		return []string{one}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	var out []string
	for _, element := range list {
		if one, ok := textOf(element); ok {
			out = append(out, one)
		}
	}
	return out
}
