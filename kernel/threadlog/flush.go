package threadlog

import (
	"os"
	"runtime"
)

// flushDir puts the entries of a directory on stable storage.
func flushDir(path string) error {
	if runtime.GOOS == "windows" { // directories can't be flushed there, and need not be
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}

// writeNew writes a file that is either there as a whole or not at all. A file that is there already stays.
func writeNew(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), dir+string(os.PathSeparator)+name)
	}
	if err != nil {
		return err
	}
	return flushDir(dir)
}
