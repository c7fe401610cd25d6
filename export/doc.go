// Package export passes typed services from one plugin to another.
package export
