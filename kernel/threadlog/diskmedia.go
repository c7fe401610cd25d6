package threadlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// diskMedia is the directory of image bytes.
type diskMedia string

func (d diskMedia) put(name string, data []byte) error {
	if err := makeDir(string(d)); err != nil {
		return err
	}
	if info, err := os.Stat(filepath.Join(string(d), name)); err == nil && info.Size() == int64(len(data)) {
		return nil // the same bytes are stored once
	}
	return writeNew(string(d), name, data)
}

func (d diskMedia) get(name string) ([]byte, error) {
	if len(name) != 64 || !isHex(name) { // a hand-written record must not name a file elsewhere
		return nil, errNoImage
	}
	f, err := os.Open(filepath.Join(string(d), name))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errNoImage
		}
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxImage {
		return nil, ErrImage
	}
	data := make([]byte, info.Size())
	n, err := f.ReadAt(data, 0)
	if n < len(data) {
		return nil, err
	}
	return data, nil
}
