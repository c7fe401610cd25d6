// Package exectool offers the tools of external tool sets: directories with a tools.json, whose tools are programs.
//
//	found := home.DiscoverToolSets(h, tree, reserved)
//	fx.New(kernel.Module, exectool.Module(exectool.Config{Sets: found.Rows, …}))
//
// Each call is a child process of its own, without a shell in between: the arguments of the call reach the program as
// options, as the manifest maps them, and as one JSON object on its standard input. The process runs in the workspace, as
// the leader of a group that ends with the call.
//
// Whatever a manifest says, a call counts as one that writes in the workspace. Arguments that the manifest names as paths
// are judged like those of the built-in file tools and can only raise that. The program itself is not confined: what it
// opens on its own is the business of its author, and of the operator who put it there.
package exectool
