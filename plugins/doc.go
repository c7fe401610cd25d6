// Package plugins says what a plugin is and runs plugins.
package plugins
