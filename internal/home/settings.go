package home

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// Settings are the files of a host, read once: config.json in its layers and the providers.
type Settings struct {
	Config    Config
	Providers map[string]Provider
	Notes     []Note

	home Dir
	env  func(string) string
}

// LoadSettings reads config.json and providers.json of the home directory. A file that is missing says nothing. One that
// can't be parsed is an error, because it may hold a restriction; with lenient set config.json falls back to the defaults
// with a note. env reads the environment.
func LoadSettings(h Dir, env func(string) string, lenient bool) (*Settings, error) {
	s := &Settings{Config: DefaultConfig(), Providers: builtinProviders(), home: h, env: env}
	err := s.layer(h.Path(ConfigFile), false)
	if err != nil && !lenient {
		return nil, err
	}
	if err != nil {
		s.Config = DefaultConfig()
		s.Notes = append(s.Notes, warning(ConfigValueInvalid, err.Error()+"; defaults are used"))
	}
	file := h.Path(ProvidersFile)
	switch o, err := jsonc.Read(file); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("reading providers: %w", err)
	default:
		readProviders(file, o, s.Providers, &s.Notes)
	}
	s.Notes = append(s.Notes, credentialNotes(h)...)
	return s, nil
}

// AddProject lays config.json of a project tree over the settings. A tree without one changes nothing. A providers.json
// there is not read: a workspace must not be able to send keys elsewhere.
func (s *Settings) AddProject(tree string) error {
	if err := s.layer(filepath.Join(tree, ConfigFile), true); err != nil {
		return err
	}
	if path := filepath.Join(tree, ProvidersFile); exists(path) {
		n := warning(ConfigProjectKeyIgnored, path+" is not read: providers are defined in the home directory alone")
		n.Fix = "move what you need to " + s.home.Path(ProvidersFile)
		s.Notes = append(s.Notes, n)
	}
	return nil
}

// layer applies one config.json.
func (s *Settings) layer(file string, project bool) error {
	o, err := jsonc.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	layer{c: &s.Config, project: project, file: file, notes: &s.Notes}.apply(o)
	return nil
}

// ProviderNames returns the names of all providers, sorted.
func (s *Settings) ProviderNames() []string { return slices.Sorted(maps.Keys(s.Providers)) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
