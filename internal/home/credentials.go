package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

// Key finds the key of a provider: the first non-blank of the places that [Settings.KeyPlaces] lists. A provider that
// needs none may have none. When one is needed and missing the error matches [ErrKeyMissing] and lists the places.
func (s *Settings) Key(p Provider) (Key, error) {
	for _, v := range variables(p) {
		if key := strings.TrimSpace(s.env(v)); key != "" {
			return Key{value: key, source: "variable " + v}, nil
		}
	}
	if key := s.written(p.APIKey); key.Known() {
		return key, nil
	}
	key, err := s.stored(p.Name)
	if err != nil {
		return Key{}, err
	}
	if !key.Known() && p.RequiresKey {
		return Key{}, fmt.Errorf("%w for provider %q; looked at: %s", ErrKeyMissing, p.Name, strings.Join(s.KeyPlaces(p), "; "))
	}
	return key, nil
}

// KeyPlaces says where the key of a provider is looked for, in order, without values.
func (s *Settings) KeyPlaces(p Provider) []string {
	var out []string
	for _, v := range variables(p) {
		out = append(out, "variable "+v)
	}
	return append(out, fmt.Sprintf("apiKey of %q in %s", p.Name, s.home.Path(ProvidersFile)),
		fmt.Sprintf("providers.%s.apiKey in %s", p.Name, s.home.Path(CredentialsFile)))
}

// variables returns the variables that may hold the key of a provider, in order.
func variables(p Provider) []string {
	var out []string
	if p.APIKeyEnvironment != "" {
		out = append(out, p.APIKeyEnvironment)
	}
	out = append(out, strings.ReplaceAll(strings.ToUpper(p.Name), "-", "_")+"_API_KEY")
	if p.RequiresKey {
		out = append(out, "CRYSTAL_API_KEY")
	}
	return out
}

// written resolves the apiKey of a definition: {env:NAME}, {file:path} or the key itself.
func (s *Settings) written(k Key) Key {
	text := strings.TrimSpace(k.value)
	if name, ok := reference(text, "env"); ok {
		return Key{value: strings.TrimSpace(s.env(name)), source: "variable " + name}
	}
	if path, ok := reference(text, "file"); ok {
		if !filepath.IsAbs(path) {
			path = s.home.Path(path)
		}
		// A file that can't be read is a place without a key: the next place is asked, and the message lists them all.
		content, _ := os.ReadFile(path)
		line, _, _ := strings.Cut(string(content), "\n")
		return Key{value: strings.TrimSpace(line), source: "file " + path}
	}
	return Key{value: text, source: k.source}
}

// reference reads "{kind:what}".
func reference(text, kind string) (what string, ok bool) {
	what, ok = strings.CutPrefix(text, "{"+kind+":")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(what, "}")
}

// stored reads the key of a provider from credentials.json.
func (s *Settings) stored(name string) (Key, error) {
	path := s.home.Path(CredentialsFile)
	o, err := jsonc.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Key{}, nil
	}
	if err != nil {
		return Key{}, fmt.Errorf("reading credentials: %w", err)
	}
	list, _ := o.Object("providers")
	if list == nil {
		return Key{}, nil
	}
	entry, _ := list.Object(name)
	if entry == nil {
		return Key{}, nil
	}
	text, _ := entry.Text("apiKey")
	return Key{value: strings.TrimSpace(text), source: path}, nil
}

// credentialNotes reports what is wrong with credentials.json without reading a key.
func credentialNotes(h Dir) []Note {
	if runtime.GOOS == "windows" {
		return nil
	}
	path := h.Path(CredentialsFile)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	n := warning(ConfigValueInvalid, fmt.Sprintf("%s can be read by others (mode %04o)", path, info.Mode().Perm()))
	n.Fix = "chmod 600 " + path
	return []Note{n}
}
