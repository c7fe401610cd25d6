// Package threadlog keeps threads. A thread is one append-only log of records, and the items of the next model request are
// what its records say.
//
// A [Store] makes and opens threads: [Disk] keeps each as a file of JSON lines, [Memory] as Go values. A [Log] is a thread
// that is open for writing; a [Picture] is one for readers. A [Record] is the unit of commitment: what belongs together is
// one record.
//
//	log, err := store.Create(ctx, threadlog.Header{Workspace: dir})
//	...
//	err = log.Append(&threadlog.Turn{Turn: "t1", Item: &model.Item{Kind: model.Message, Role: model.User, Text: "hi"}})
//	request.Items = log.Items() // shared with the log: nothing is copied
//
// Nothing that was written is changed or removed by going on. What can't be read is skipped and stays; a torn last line is
// cut at the next append, and its bytes are saved beside the log. A call that lost its result has a made-up one in
// every request.
//
// The package does not decide when a thread is compacted, and runs no hooks: it stores what it is given.
package threadlog
