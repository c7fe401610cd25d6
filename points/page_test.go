package points_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points"
)

var update = flag.Bool("update", false, "write docs/points.md")

const page = "../docs/points.md"

func TestPageOfPointsIsCurrent(t *testing.T) {
	want := render()
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Equal(t, want, string(got), "run go generate ./points")
}

// render makes the page from the catalog.
func render() string {
	var b strings.Builder
	b.WriteString("# Contribution points\n\nMade from `points.Catalog()` by `go generate ./points`.\n\n")
	b.WriteString("Scope W is the workspace, T a single thread. A deadline is that of one call of a plugin's entry; \"caller\" means that\n")
	b.WriteString("only the caller's own counts. `crystal points show <point>` lists what stands at a point now.\n\n")
	b.WriteString("| point | contract | tiers | scopes | read | a failing entry | deadline |\n|---|---|---|---|---|---|---|\n")
	all := points.Catalog()
	for _, p := range all {
		i := p.Info()
		fmt.Fprintf(&b, "| [`%s`](#%s) | `%s` | %s | %s | %s | %s | %s |\n",
			i.Name, anchor(i.Name), i.Contract, i.Tiers, scopes(i.Scopes), i.Evaluation, i.Failure, deadline(i))
	}
	for _, p := range all {
		i := p.Info()
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", i.Name, i.Doc)
		if len(i.Targets) == 0 {
			continue
		}
		b.WriteString("\n| target | order | guarding | what it is |\n|---|---|---|---|\n")
		for _, target := range i.Targets {
			guarding := "no"
			if target.Guarding {
				guarding = "yes"
			}
			fmt.Fprintf(&b, "| `%s` | %d | %s | %s |\n", target.Name, target.Order, guarding, target.Doc)
		}
	}
	return b.String()
}

func anchor(name string) string { return strings.ReplaceAll(name, ".", "") }

func scopes(s contrib.Scopes) string {
	if s == contrib.WorkspaceOnly {
		return "W"
	}
	return "W T"
}

func deadline(i contrib.PointInfo) string {
	if i.Deadline == 0 {
		return "caller"
	}
	return i.Deadline.String()
}

func TestCatalogAdmitsEveryPointOnceAndGuardsIt(t *testing.T) {
	all := points.Catalog()
	require.Len(t, all, 42)
	_, err := contrib.New(all...)
	require.NoError(t, err)
	for _, p := range all {
		i := p.Info()
		require.True(t, i.Guarded, "%s has no guard: no plugin could contribute to it", i.Name)
		require.NotEmpty(t, i.Doc)
		require.True(t, strings.HasSuffix(i.Doc, "."), "%s: %s", i.Name, i.Doc)
		if i.Tiers&contrib.TierB != 0 {
			require.NotEmpty(t, i.Targets, i.Name)
		}
	}
}
