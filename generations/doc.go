// Package generations runs the code of plugins so that it can be taken away again.
package generations
