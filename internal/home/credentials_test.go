package home_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home"
)

func TestKeyComesFromTheFirstPlaceThatHasOne(t *testing.T) {
	h := home.Dir(t.TempDir())
	write(t, "  sk-file \nrest", h.Path("keys", "acme"))
	def := func(extra string) string {
		return `{"providers": {"my-acme": {"protocol": "openai"` + extra + `}, "local": {"protocol": "ollama"}}}`
	}
	stored := `{"providers": {"my-acme": {"apiKey": "sk-stored"}}}`
	tests := []struct {
		name, providers, credentials string
		env                          []string
		value, source                string
	}{
		{"its own variable", def(`, "apiKeyEnvironment": "MINE", "apiKey": "sk-direct"`), stored, []string{"MINE", " sk-mine ", "MY_ACME_API_KEY", "x"}, "sk-mine", "variable MINE"},
		{"the variable of its name", def(`, "apiKeyEnvironment": "MINE"`), stored, []string{"MINE", " ", "MY_ACME_API_KEY", "sk-name", "CRYSTAL_API_KEY", "x"}, "sk-name", "variable MY_ACME_API_KEY"},
		{"the variable for all", def(`, "apiKey": "sk-direct"`), stored, []string{"CRYSTAL_API_KEY", "sk-all"}, "sk-all", "variable CRYSTAL_API_KEY"},
		{"a variable that the definition names", def(`, "apiKey": "{env:THERE}"`), stored, []string{"THERE", "sk-there"}, "sk-there", "variable THERE"},
		{"a file that the definition names", def(`, "apiKey": "{file:keys/acme}"`), stored, nil, "sk-file", "file " + h.Path("keys", "acme")},
		{"the definition itself", def(`, "apiKey": "sk-direct"`), stored, nil, "sk-direct", "apiKey of providers.json"},
		{"credentials", def(`, "apiKey": "{file:keys/none}"`), stored, nil, "sk-stored", h.Path(home.CredentialsFile)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			write(t, tt.providers, h.Path(home.ProvidersFile))
			write(t, tt.credentials, h.Path(home.CredentialsFile))
			s, err := home.LoadSettings(h, vars(tt.env...), false)
			require.NoError(t, err)
			key, err := s.Key(s.Providers["my-acme"])
			require.NoError(t, err)
			assert.Equal(t, tt.value, key.Reveal())
			assert.Equal(t, tt.source, key.Source())
		})
	}
	t.Run("none that is needed", func(t *testing.T) {
		write(t, def(""), h.Path(home.ProvidersFile))
		write(t, "{}", h.Path(home.CredentialsFile))
		s, err := home.LoadSettings(h, vars(), false)
		require.NoError(t, err)
		_, err = s.Key(s.Providers["my-acme"])
		require.ErrorIs(t, err, home.ErrKeyMissing)
		for _, place := range s.KeyPlaces(s.Providers["my-acme"]) {
			assert.ErrorContains(t, err, place)
		}
		key, err := s.Key(s.Providers["local"])
		require.NoError(t, err)
		assert.False(t, key.Known())
	})
	t.Run("none that is needed, with the variable for all", func(t *testing.T) {
		s, err := home.LoadSettings(h, vars("CRYSTAL_API_KEY", "sk-all"), false)
		require.NoError(t, err)
		key, err := s.Key(s.Providers["local"])
		require.NoError(t, err)
		assert.False(t, key.Known(), "the key for all goes to nobody who needs none")
	})
	t.Run("a file that can't be parsed is an error without its content", func(t *testing.T) {
		write(t, `{"providers": {"my-acme": {"apiKey": "sk-broken\x"}}}`, h.Path(home.CredentialsFile))
		s, err := home.LoadSettings(h, vars(), false)
		require.NoError(t, err)
		_, err = s.Key(s.Providers["my-acme"])
		require.Error(t, err)
		assert.NotErrorIs(t, err, home.ErrKeyMissing)
		assert.NotContains(t, err.Error(), "sk-broken")
	})
}

func TestCredentialsThatOthersCanReadAreNoted(t *testing.T) {
	h := home.Dir(t.TempDir())
	path := write(t, "{}", h.Path(home.CredentialsFile))
	require.NoError(t, os.Chmod(path, 0o644))
	s, err := home.LoadSettings(h, vars(), false)
	require.NoError(t, err)
	require.Len(t, s.Notes, 1)
	assert.Contains(t, s.Notes[0].Fix, "chmod 600")
}

func TestKeyPrintsItsTypeNameAlone(t *testing.T) {
	s := providers(t, "", "OPENAI_API_KEY", "sk-secret")
	key, err := s.Key(s.Providers["openai"])
	require.NoError(t, err)
	require.Equal(t, "sk-secret", key.Reveal())
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", key, "struct", struct{ K home.Key }{key})
	text, err := json.Marshal(map[string]any{"k": key})
	require.NoError(t, err)
	for _, out := range []string{
		fmt.Sprint(key), fmt.Sprintf("%v %+v %#v %s %q %x", key, key, key, key, key, key),
		fmt.Sprintf("%+v %#v", struct{ K home.Key }{key}, struct{ K home.Key }{key}), log.String(), string(text),
	} {
		assert.NotContains(t, out, "sk-secret")
		assert.NotContains(t, out, "736b2d") // "sk-" in hexadecimal
	}
}
