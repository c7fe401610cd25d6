// Package childproc runs programs as process groups that can be ended as a whole.
//
//	var out childproc.Capture
//	exit, err := childproc.Run(ctx, childproc.Command{
//		Path: "/bin/sh", Args: []string{"sh", "-c", "make"}, Dir: workspace, Stdout: &out, Stderr: &out,
//	})
//
// The child leads its own session and process group and has no terminal. When ctx is done the group gets TERM and, two
// seconds later, KILL. When the child itself has ended, what it left in its group is ended the same way, and what still
// holds its pipes is not waited for. [KillAll] ends every group at once, for a program that has to go now.
//
// A process that leaves the group can't be reached. On Linux it is found by the marker in its environment and named.
//
// On Windows a child is ended alone, without what it started: the package has no job objects.
package childproc
