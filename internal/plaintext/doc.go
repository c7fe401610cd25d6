// Package plaintext makes text that programs have printed fit for a model.
//
//	text := plaintext.Clean("\x1b[32mok\x1b[0m\r\n") // "ok\n"
//
// It is no fence for a terminal: what is shown to people goes through the package terminal.
package plaintext
