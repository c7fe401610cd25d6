//go:build !unix

package crystalcmd

import "os"

// redirect makes os.Stdout lead to target and returns what it was.
func redirect(target *os.File) (own *os.File, restore func()) {
	own = os.Stdout
	os.Stdout = target
	return own, func() { os.Stdout = own }
}
