package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// suiteGroup is one entry of a file of the public test suite for JSON Schema.
type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// The suite has schemas and instances of every kind, so this test stands inside of the package: it leaves out the rule
// that the root is an object.
func TestPublicSuite(t *testing.T) {
	for dir, d := range map[string]dialect{"2020-12": draft2020, "draft-07": draft07} {
		files, err := filepath.Glob(filepath.Join("testdata", "suite", dir, "*.json"))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			t.Run(dir+"/"+filepath.Base(file), func(t *testing.T) {
				content, err := os.ReadFile(file)
				require.NoError(t, err)
				var groups []suiteGroup
				require.NoError(t, json.Unmarshal(content, &groups))
				for _, g := range groups {
					runSuiteGroup(t, d, g)
				}
			})
		}
	}
}

func runSuiteGroup(t *testing.T, d dialect, g suiteGroup) {
	t.Helper()
	s, err := parse(g.Schema)
	require.NoError(t, err)
	s.dialect = d
	if err := s.build(); err != nil {
		// Nothing is ever fetched: the only schemas of the suite that are not admitted refer to other documents.
		var invalid *Invalid
		require.ErrorAs(t, err, &invalid)
		if !strings.Contains(invalid.Detail, "nothing is fetched") {
			t.Errorf("%s: %v", g.Description, err)
		}
		return
	}
	for _, c := range g.Tests {
		var r run
		reason, _ := r.t.parse(string(c.Data), maxDepth)
		require.Empty(t, reason)
		r.reset(s, false)
		if got := r.check(s.root, 0, nil); got != c.Valid {
			t.Errorf("%s / %s: got %v", g.Description, c.Description, got)
		}
		r.reset(s, true)
		if got := r.check(s.root, 0, nil); got != c.Valid || got != (len(r.found) == 0) {
			t.Errorf("%s / %s: explaining gives another verdict: %v, %v", g.Description, c.Description, got, r.found)
		}
	}
}
