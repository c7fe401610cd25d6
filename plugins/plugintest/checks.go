package plugintest

import (
	"fmt"
	"strings"
)

// Check is one rule that the kit holds a plugin to.
type Check struct {
	ID          string // stable; stands in the report of a violation
	Description string // what is so when the plugin conforms
	Rationale   string // why a host needs it
	Resolution  string // how to put a violation right
}

// The ids of the checks.
const (
	activates    = "activates"
	admitted     = "contributions-admitted"
	withinStart  = "registers-while-activating"
	stopsInTime  = "cancel-honoured"
	stopsCleanly = "stops-cleanly"
	again        = "activates-again"
	sameAgain    = "same-contributions"
	noGoroutine  = "no-goroutine-left"
	collectable  = "collectable"
)

// Checks lists the rules in the order in which they are tested. The slice belongs to the caller.
func Checks() []Check {
	return []Check{
		{
			activates,
			"The plugin becomes active once it is enabled.",
			"A plugin that is blocked or faulted is of no use, and its consumers are blocked with it.",
			"The blockers say what is wrong. Give the kit the providers and the shared values that the plugin needs.",
		},
		{
			admitted,
			"Every contribution is admitted.",
			"A refused contribution is left out, and the plugin runs without it.",
			"The diagnostics name the point and the reason. Give the kit every point that the plugin contributes to.",
		},
		{
			withinStart,
			"All contributions with workspace scope are added before the activation has returned.",
			"They are published at once, so that nobody ever sees half of a plugin; later ones are refused.",
			"Add in constructors and start hooks, and wait there for goroutines that add. Use thread scope for what comes later.",
		},
		{
			stopsInTime,
			"The teardown is complete in time once the plugin was told to stop.",
			"Until then the plugin cannot start again and its providers cannot stop.",
			"End background work when its context is done; let stop hooks and Close functions return soon.",
		},
		{
			stopsCleanly,
			"Nothing fails while the plugin stops.",
			"What fails to close may be half written, and stays open.",
			"The log has the errors of stop hooks, of Close functions and of background work.",
		},
		{
			again,
			"The plugin becomes active a second time in the same process, with a new generation.",
			"Settings change and operators switch plugins while the host runs.",
			"Keep state in values that constructors make, not in package variables and sync.Once.",
		},
		{
			sameAgain,
			"The second activation makes the same contributions in the same order.",
			"Order and replacement depend on it, and so do people who compare two runs.",
			"Do not contribute in the order of a map, of goroutines, or depending on what an earlier generation left.",
		},
		{
			noGoroutine,
			"No goroutine of a stopped generation is left.",
			"Nothing can end it from outside; it takes memory until the process ends.",
			"Start goroutines with Lifetime.Go, and end what they start when their context is done.",
		},
		{
			collectable,
			"A stopped generation can be collected.",
			"Go cannot unload code; what keeps a generation keeps all of its memory.",
			"Keep the lifetime, the registrar, the settings and contexts out of package variables and of shared objects.",
		},
	}
}

// Markdown returns the list of checks as a page of documentation.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Conformance of plugins\n\nWhat `plugintest.Run` checks, in this order.\n")
	for _, c := range Checks() {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n*Why:* %s\n\n*How to keep it:* %s\n", c.ID, c.Description, c.Rationale, c.Resolution)
	}
	return b.String()
}
