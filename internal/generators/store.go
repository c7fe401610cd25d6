package generators

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// kept is what is kept of one workspace.
type kept struct {
	Workspace   string    `json:"workspace"`
	Made        time.Time `json:"made"`
	Suggestions []string  `json:"suggestions"`
}

// store keeps suggestions by workspace. A workspace of which nothing is kept gives the zero value.
type store interface {
	read(workspace string) (kept, error)
	write(workspace string, k kept) error
	remove(workspace string) error
}

func newStore(home string) store {
	if home == "" {
		return &memory{kept: map[string]kept{}}
	}
	return files(filepath.Join(home, "data", "welcome"))
}

// memory is a store that ends with the process.
type memory struct {
	mu   sync.Mutex
	kept map[string]kept
}

func (m *memory) read(workspace string) (kept, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[workspace], nil
}

func (m *memory) write(workspace string, k kept) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[workspace] = k
	return nil
}

func (m *memory) remove(workspace string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, workspace)
	return nil
}

// files is a directory with one file for each workspace.
type files string

// path names the file of a workspace by a digest, because the workspace's own name has no safe form.
func (f files) path(workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Join(string(f), hex.EncodeToString(sum[:16])+".json")
}

// read reads a file. One that can't be read as what this host writes is an error, and counts as nothing kept.
func (f files) read(workspace string) (kept, error) {
	file, err := os.Open(f.path(workspace))
	if errors.Is(err, fs.ErrNotExist) {
		return kept{}, nil
	}
	if err != nil {
		return kept{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return kept{}, err
	}
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return kept{}, fmt.Errorf("%s: %w", file.Name(), err)
	}
	if k.Workspace != workspace {
		return kept{}, fmt.Errorf("%s: belongs to the workspace %q", file.Name(), k.Workspace)
	}
	return k, nil
}

// write replaces a file, one that is broken too.
func (f files) write(workspace string, k kept) error {
	path := f.path(workspace)
	set := func() error {
		_, err := jsonc.Edit(path, func(d *jsonc.Draft) error {
			return errors.Join(d.Set(k.Workspace, "workspace"), d.Set(k.Made, "made"), d.Set(k.Suggestions, "suggestions"))
		})
		return err
	}
	err := set()
	if _, broken := errors.AsType[*jsonc.SyntaxError](err); broken {
		if err = f.remove(workspace); err == nil {
			err = set()
		}
	}
	return err
}

func (f files) remove(workspace string) error {
	if err := os.Remove(f.path(workspace)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
