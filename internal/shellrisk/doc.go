// Package shellrisk judges command lines before they run.
package shellrisk
