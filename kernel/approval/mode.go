package approval

import (
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// Mode is how much passes without asking.
type Mode string

// The modes. Blank and unknown modes count as ModeDefault.
const (
	ModeDefault Mode = "default" // reading passes; everything else asks
	ModeEdit    Mode = "edit"    // file edits in the workspace pass too
	ModeReview  Mode = "review"  // edits pass; the rest goes to the reviewer
	ModeAudit   Mode = "audit"   // everything that isn't reading goes to the reviewer
	ModeFull    Mode = "full"    // everything in the workspace passes
	ModePlan    Mode = "plan"    // in force during a turn in plan mode, in place of the operator's choice
)

// modeOf returns the mode in force for a call.
func modeOf(c *dispatch.Call) Mode {
	if c.Mode == string(ModePlan) {
		return ModePlan
	}
	return Mode(c.Approval)
}

// route is where a call goes when no grant covers it.
type route uint8

const (
	routeAsk           route = iota // the operator decides; the zero value, so that a gap in the table asks
	routePass                       // it runs
	routeReject                     // the mode refuses it
	routeReview                     // the reviewer decides, and the operator what the reviewer leaves open
	routeReviewThenAsk              // the reviewer may refuse; allowing it is up to the operator
)

// routeOf is the table of modes. A class that is not valid goes the way of a privileged one.
func routeOf(m Mode, c *dispatch.Call) route {
	k := &c.Classification
	kind := kindOf(c)
	if m == ModePlan && kind != otherTool {
		return routeReject
	}
	reviewed := m == ModeReview || m == ModeAudit
	switch {
	case k.RequirePrompt || k.Risk == tool.Forbidden:
		if reviewed {
			return routeReviewThenAsk
		}
		return routeAsk
	case k.Authority != tool.Workspace || k.Risk != tool.Read && k.Risk != tool.Write:
		if reviewed {
			return routeReview
		}
		return routeAsk
	case k.Risk == tool.Read:
		return routePass
	}
	if k.Always && c.Definition != nil && c.Definition.Key.Kind == tool.OwnerExternal {
		return routePass
	}
	switch m {
	case ModeFull:
		return routePass
	case ModeEdit:
		if kind == fileTool {
			return routePass
		}
	case ModeReview:
		if kind == fileTool {
			return routePass
		}
		return routeReview
	case ModeAudit:
		return routeReview
	}
	return routeAsk
}

// toolKind sorts the tools that the table of modes knows by name.
type toolKind uint8

const (
	otherTool toolKind = iota
	fileTool           // write, edit
	shellTool          // bash
)

func kindOf(c *dispatch.Call) toolKind {
	if c.Definition == nil || c.Definition.Key.Kind != tool.OwnerBuiltin || c.Definition.Namespace != "" {
		return otherTool
	}
	switch c.Definition.Name {
	case "write", "edit":
		return fileTool
	case "bash":
		return shellTool
	}
	return otherTool
}
