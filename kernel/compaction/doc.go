// Package compaction makes room in a thread: it drops old tool outputs, and folds older turns into a summary.
package compaction
