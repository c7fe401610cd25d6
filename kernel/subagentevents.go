package kernel

import "github.com/crystalkernel/crystal/contrib"

// pass hands an event of the subagent on to the turn that started it. What belongs to the life of the subagent's own turn
// stays with it. Any goroutine.
func (c *child) pass(e Event) {
	name := c.profile.Name
	switch e := e.(type) {
	case CallPending:
		e.Agent = name
		c.tell(e)
	case ApprovalAsked:
		e.Agent = name
		c.tell(e)
	case ApprovalAnswered:
		e.Agent = name
		c.tell(e)
	case CallStarted:
		e.Agent = name
		c.tell(e)
	case CallProgress:
		e.Agent = name
		c.tell(e)
	case CallEnded:
		e.Agent = name
		c.tell(e)
	case Noted:
		e.Agent = name
		c.tell(e)
	case Failure: // it is the subagent that fails, not the turn
		c.tell(Noted{Code: e.Code, Severity: contrib.Warning, Agent: name, Message: "a subagent failed: " + e.Message})
	}
}

// progress tells about the call that started the subagent. Any goroutine.
func (c *child) progress(text string) { c.tell(CallProgress{CallID: c.call, Text: text}) }

func (c *child) tell(e Event) { c.with(func() { c.parent.side.post(e) }) }
