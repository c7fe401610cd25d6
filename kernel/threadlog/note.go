package threadlog

// Codes of stored threads.
const (
	// ThreadInUse means that another process writes.
	ThreadInUse = "ThreadInUse"
	// ThreadSchemaNewer means that the log was made by a newer host.
	ThreadSchemaNewer = "ThreadSchemaNewer"
	// ThreadDamaged means that the first line is unreadable: the file is not a thread.
	ThreadDamaged = "ThreadDamaged"
	// ThreadRepaired means that a torn tail was cut, or calls were closed.
	ThreadRepaired = "ThreadRepaired"
	// ThreadRecordSkipped means that a line or an item could not be read.
	ThreadRecordSkipped = "ThreadRecordSkipped"
	// MediaMissing means that an image file is gone.
	MediaMissing = "MediaMissing"
	// ToolInterrupted is the code of the made-up result of a call that has none.
	ToolInterrupted = "tool_interrupted"
)

// Note is something that the operator should know and that stops nothing.
type Note struct {
	Code    string
	Thread  string
	Message string
}
