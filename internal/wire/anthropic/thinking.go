package anthropic

import (
	"github.com/crystalkernel/crystal/internal/wire"
	"github.com/crystalkernel/crystal/internal/wire/rawjson"
)

// thinking is how a model is asked to think. The zero value leaves it to the model.
type thinking struct {
	off    bool
	effort string // with adaptive thinking
	budget int    // tokens
}

// budgets are the token budgets of effort words, for models that do not adapt.
var budgets = map[string]int{
	wire.GearLow: 1024, wire.GearMedium: 8192, wire.GearHigh: 24576, wire.GearMaximum: 32000,
}

// leastBudget is the smallest budget that the API accepts.
const leastBudget = 1024

// thinkingOf turns a gear into thinking; ignored says that the protocol has no such gear.
func (c *codec) thinkingOf(gear string) (t thinking, ignored bool) {
	if n, ok := wire.Budget(gear); ok {
		return thinking{budget: max(n, leastBudget)}, false
	}
	switch gear {
	case "", wire.GearDefault:
		return thinking{}, false
	case wire.GearOff:
		return thinking{off: true}, false
	case wire.GearMinimal:
		return thinking{}, true
	}
	if !c.adaptive {
		n, known := budgets[gear]
		return thinking{budget: n}, !known
	}
	if gear == wire.GearMaximum {
		gear = "max"
	}
	return thinking{effort: gear}, false
}

// on reports whether the model is told to think, which excludes sampling parameters.
func (t thinking) on() bool { return t.effort != "" || t.budget > 0 }

func (t thinking) append(b []byte) []byte {
	switch {
	case t.off:
		return append(b, `,"thinking":{"type":"disabled"}`...)
	case t.budget > 0:
		b = append(b, `,"thinking":{"type":"enabled","budget_tokens":`...)
		return append(rawjson.AppendInt(b, t.budget), '}')
	case t.effort != "":
		b = append(b, `,"thinking":{"type":"adaptive"},"output_config":{"effort":`...)
		return append(rawjson.AppendString(b, t.effort), '}')
	}
	return b
}
