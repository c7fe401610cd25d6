//go:build !windows

package exectool

const pathSeparators = "/"
