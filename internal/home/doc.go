// Package home reads the directories and files that a host is set up with: the home directory, the workspace and its
// project tree, config.json, providers.json, credentials, workspace trust and plugin manifests.
//
// Reading never creates anything. What is wrong with a file is a [Note], and costs as little as possible; what would make
// a restriction disappear is an error.
//
//	h, err := home.Find("", os.Getenv)                  // where the files are
//	ws, err := home.OpenWorkspace(h, ".")               // the workspace and its project tree
//	s, err := home.LoadSettings(h, ws.Tree)             // config.json in layers, providers.json
//	c, err := s.Choose(home.Wanted{Model: "acme/large"})
//	key, err := s.Key(c.Provider)                       // never printed
//
// The rules of the files themselves (comments, locks, what a write keeps) are those of the package jsonc.
package home
