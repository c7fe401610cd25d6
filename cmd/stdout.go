package crystalcmd

import "os"

// divert sends what plugin code prints to the process's own standard output into the log, for as long as the program
// itself writes there. back undoes it.
func (p *program) divert(l *logFile) (back func()) {
	if !p.own {
		return func() {}
	}
	f, err := l.open()
	if err != nil {
		f, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	if err != nil {
		return func() {}
	}
	own := os.Stdout
	os.Stdout = f
	return func() { os.Stdout = own }
}
