package approval

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
