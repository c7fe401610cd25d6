// Package fence knows where the paths of built-in tools lead, and opens only what was judged.
//
//	f := fence.New(fence.Config{Workspace: workspace})
//	place, err := f.Judge("src/link.go")   // where it leads, before anybody is asked
//	spot, err := f.Enter(place, approved)  // after that: a root and a name in it
//	file, err := spot.Open()
//
// Inside the workspace every operation goes through an [os.Root] on the workspace, so that no link leads out, also not one
// that is put there between the judging and the opening. A path outside is opened only when it is the one that was
// approved, part by part from the top, with every link on the way refused.
package fence
