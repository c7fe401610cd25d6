// Package points is the table of all contribution points of Crystal. Each area has a package of its own below this one
// with the contracts, the published targets and the guards: tool, prompt, agent, model, dispatch, thread, command,
// compaction, subagent, trace, generator, host, status, hook and rawhook.
//
//	registry, err := contrib.New(points.Catalog()...)
//
// The contracts are small interfaces and plain data; nothing here runs a turn.
//
//go:generate go test -run TestPageOfPointsIsCurrent -update .
package points
