package jsonc

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// renameWait is how long a rename is tried that a reader of the old file disturbs.
const renameWait = time.Second

// replace puts text in place of the file at path, so that no reader sees half of it. Windows has no modes to keep.
func replace(path string, text []byte, _ fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path))
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // does nothing once the file is renamed
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	for began := time.Now(); ; time.Sleep(lockPoll) {
		if err = os.Rename(f.Name(), path); err == nil || time.Since(began) > renameWait {
			return err
		}
	}
}
