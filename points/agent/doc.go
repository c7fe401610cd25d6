// Package agent holds the contract of agent context: sources whose providers transform the instructions of the agent
// before a request is sent.
//
// The built-in source is registered under the target [Memory] and composes the whole system prompt. A replacement takes
// all of it over:
//
//	contrib.Provide(agent.Contexts, newContext, contrib.ReplaceTarget(agent.Memory))
package agent
