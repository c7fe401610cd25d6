// Package status holds the contract of status fields: a plugin contributes a [Field] and pushes its text through
// [Updates]. The host never asks for a text and runs no timer for it.
package status
