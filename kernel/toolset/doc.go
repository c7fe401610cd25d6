// Package toolset plans the tools of a turn.
package toolset
