//go:build !unix

package fence

const nonBlocking = 0
