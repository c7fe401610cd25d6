package builtin

import (
	"path/filepath"

	"github.com/crystalkernel/crystal/points/tool"
)

// classifyReading judges read, list, glob and grep.
func classifyReading(s *Source, c tool.Call, workspace string) tool.Classification {
	return s.classifyPath(c, workspace, tool.Read)
}

// classifyWriting judges write and edit.
func classifyWriting(s *Source, c tool.Call, workspace string) tool.Classification {
	return s.classifyPath(c, workspace, tool.Write)
}

// classifyPath judges a tool by the path in its arguments. Arguments that make no sense take the class of the inside of
// the workspace: the call fails when it is run.
func (s *Source) classifyPath(c tool.Call, workspace string, risk tool.Risk) tool.Classification {
	k := tool.Classification{Risk: risk, Authority: tool.Workspace, Summary: c.Tool}
	var args struct {
		Path string `json:"path"`
	}
	if arguments(c.Arguments, &args) != nil {
		return k
	}
	f := s.fence(workspace, c.Thread)
	place, err := f.Judge(args.Path)
	if err != nil {
		return k
	}
	k.Paths = []string{place.Path}
	k.Fingerprint = filepath.ToSlash(place.Path)
	k.Summary = c.Tool + " " + f.Show(place.Given)
	switch {
	case place.Credential:
		k.Risk, k.Authority = tool.Forbidden, tool.PrivilegedEscalation
		k.Summary += ": holds credentials"
	case place.Outside && (!place.Inside || risk != tool.Read):
		k.Authority = tool.OutsideWorkspace
		k.Summary += ": outside the workspace"
		if place.Path != place.Given {
			k.Summary += ", at " + filepath.ToSlash(place.Path)
		}
	case place.Guarded && risk != tool.Read:
		k.Risk = tool.Privileged
		k.Summary += ": what lies there can make later code run"
	}
	return k
}
