// Package estimate counts tokens without asking anybody: four characters are one token.
//
// [Text], [Item], [Tools] and [Request] estimate what would be sent. A [Counter] does it for a growing list without looking
// at an item twice. A [Meter] goes on from what the provider reported last. Both estimates and the reported total decide
// when a thread is compacted.
//
//	n := estimate.Text(system) + estimate.Tools(tools) + counter.Items(items, estimate.Sends{Images: true})
//
// The numbers are no substitute for a tokenizer, and nothing is billed by them.
package estimate
