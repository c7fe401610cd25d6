package crystalcmd_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crystalcmd "github.com/crystalkernel/crystal/cmd"
)

// go generate ./cmd makes the page again.
func TestPageOfCodesIsCurrent(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, crystalcmd.WriteCodes(&b))
	page, err := os.ReadFile(filepath.Join("..", "docs", "codes.md"))
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(page), "run go generate ./cmd")
}

// Every constant of the repository that has the form of a code and is exported is on the page.
func TestEveryCodeConstantIsListed(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, crystalcmd.WriteCodes(&b))
	found := 0
	for _, dir := range []string{
		"contrib", "plugins", "internal/home", "points/tool", "points/model", "kernel", "kernel/threadlog", "kernel/dispatcher", "kernel/compaction",
	} {
		for name, value := range codeConstants(t, filepath.Join("..", dir)) {
			found++
			assert.True(t, strings.Contains(b.String(), "`"+value+"`"), "%s: %s.%s is not listed by crystal codes", value, dir, name)
		}
	}
	assert.Greater(t, found, 80)
}

// codeName is how constants of codes are named: Code…, or as the code itself.
var codeName = regexp.MustCompile(`^(Code[A-Z]|(Plugin|Thread|Media|Config|Project|Workspace|Compaction|Command)[A-Z][a-zA-Z]+$)`)

// codeValue is the form of codes.
var codeValue = regexp.MustCompile(`^([A-Z][a-z]+[A-Z][A-Za-z]+|(tool|provider|command)[._][a-z_]+)$`)

func codeConstants(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	out := make(map[string]string)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for i, name := range v.Names {
					if i >= len(v.Values) || !name.IsExported() || !codeName.MatchString(name.Name) {
						continue
					}
					lit, ok := v.Values[i].(*ast.BasicLit)
					if !ok || lit.Kind != token.STRING {
						continue
					}
					if value, err := strconv.Unquote(lit.Value); err == nil && codeValue.MatchString(value) {
						out[name.Name] = value
					}
				}
			}
		}
	}
	return out
}
