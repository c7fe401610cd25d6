// Package tracefile is the built-in trace sink that writes a file: one JSON object per line, for whoever wants to know later
// what happened.
//
//	app := fx.New(kernel.Module, tracefile.Module("trace.jsonl"), …)
//
// A line has the type, the time, the thread, the turn and the data of an event:
//
//	{"type":"call_ended","time":"2026-01-02T15:04:05.6Z","threadId":"…","turnId":"t1","data":{…}}
//
// The file grows to [MaxFile] and no further: then the sink says so once and drops what comes. A sink that fails costs a
// note and never the turn. One event takes about 3 µs and 3 allocations (BenchmarkRecord), off the goroutine of the turn.
package tracefile
