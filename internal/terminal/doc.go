// Package terminal prepares text for people and prints listings.
//
// Text that somebody else wrote (a model, a tool, a file) is cleaned before it is shown: [Clean] keeps lines and tabs,
// [Line] makes one line of it. Both remove escape sequences whole, so that neither a terminal is driven by them nor
// their remains are read as text:
//
//	terminal.Clean("50%\x1b[2J\r\ndone\x1b]0;title\a") // "50%\ndone"
//
// A [Listing] prints rows as a table, as plain text or as lines of JSON, with the same cells in all of them.
// [Width] counts terminal cells, [Cut] cuts at a character.
//
// The package draws no screen and reads no key.
package terminal
