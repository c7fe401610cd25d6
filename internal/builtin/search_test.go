package builtin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/tool"
)

func TestListIndentsAndMarks(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, "(empty directory)", d.ok("list", args{}))
	d.file("b/c/d", "x")
	d.file("a", "x")
	d.file(".git/config", "x")
	d.link("b", "l")
	assert.Equal(t, ".git/\na\nb/\nl@", d.ok("list", args{}))
	assert.Equal(t, ".git/\na\nb/\n  c/\n    d\nl@", d.ok("list", args{"depth": 3}))
	assert.Equal(t, "c/", d.ok("list", args{"path": "b"}))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "list", args{"path": "a"}), "not a directory")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "list", args{"path": "bb"}), "does not exist")
}

func TestListStopsAtAThousandEntries(t *testing.T) {
	d := newDesk(t)
	for i := range 1003 {
		d.file(fmt.Sprintf("f%04d", i), "")
	}
	got := d.ok("list", args{})
	assert.Equal(t, 1001, len(strings.Split(got, "\n")))
	assert.True(t, strings.HasSuffix(got, "[3 more entries were left out]"))
}

func TestGlob(t *testing.T) {
	d := newDesk(t)
	old := time.Now().Add(-time.Hour)
	for _, name := range []string{"a.go", "src/b.go", "src/deep/c.go", "src/x.txt", "build/out.go", ".git/hook.go", "keep/.gitignore", "keep/t.go", "keep/u.go"} {
		require.NoError(t, os.Chtimes(d.file(name, ""), old, old))
	}
	d.file(".gitignore", "/build/\n")
	d.file("keep/.gitignore", "*.go\n!u.go\n")
	d.file(".ssh/id.go", "")
	d.link("src", "linked")
	tests := []struct {
		pattern, path, want string
	}{
		{"**/*.go", "", "a.go keep/u.go src/b.go src/deep/c.go"},
		{"*.go", "", "a.go"},
		{"src/*", "", "src/b.go src/x.txt"},
		{"*.{go,txt}", "src", "b.go x.txt"},
		{"src/[a-c]*.go", "", "src/b.go"},
		{"build/*.go", "", "build/out.go"},
		{".git/*", "", ".git/hook.go"},
		{"build/out.go", "", "build/out.go"},
		{"**/*.go", "keep", "u.go"},
		{"linked/*.go", "", ""},
		{".ssh/*", "", ""},
		{"*.rs", "", ""},
		{"src/d?ep/*", "", "src/deep/c.go"},
	}
	for _, tt := range tests {
		t.Run(tt.pattern+" in "+tt.path, func(t *testing.T) {
			want := strings.ReplaceAll(tt.want, " ", "\n")
			if want == "" {
				want = "(no match)"
			}
			assert.Equal(t, want, d.ok("glob", args{"pattern": tt.pattern, "path": tt.path}))
		})
	}
	d.file("src/deep/c.go", "newest")
	assert.True(t, strings.HasPrefix(d.ok("glob", args{"pattern": "**/*.go"}), "src/deep/c.go\n"))
}

// FIELD-N9
func TestGlobRefusesAPatternThatExplodes(t *testing.T) {
	d := newDesk(t)
	start := time.Now()
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "glob", args{"pattern": strings.Repeat("{a,b}", 30)}), "64 alternatives")
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "glob", args{"pattern": strings.Repeat("{a,", 1000)}), "64 alternatives")
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "glob", args{"pattern": "{" + strings.Repeat("a,", 64) + "b}"}), "64 alternatives")
	assert.Less(t, time.Since(start), time.Second)
	d.ok("glob", args{"pattern": strings.Repeat("{a,b}", 6)})
	d.fails(tool.CodeInputInvalid, "glob", args{"pattern": "[a"})
	d.fails(tool.CodeInputInvalid, "glob", args{"pattern": "/etc/*"})
	d.fails(tool.CodeInputInvalid, "glob", args{"pattern": "../*"})
	d.fails(tool.CodeInputInvalid, "grep", args{"pattern": "x", "include": strings.Repeat("{a,b}", 30)})
}

func TestGrep(t *testing.T) {
	d := newDesk(t)
	d.file("a-b/z.go", "foo\r\n")
	d.file("a.go", "package a\n\nfunc Foo() {}\n\nfunc Bar() {}\n")
	d.file("a/b.go", "foo.bar\nfooXbar\n")
	d.file("bin", "foo\x00")
	d.file("skip/x.go", "foo\n")
	d.file(".gitignore", "skip\n")
	d.file(".netrc", "foo\n")
	require.NoError(t, os.Truncate(d.file("big", "foo"), 9<<20))
	skipped := "\n[2 binary or very large files were skipped]"
	assert.Equal(t, "a-b/z.go:1:foo\na/b.go:1:foo.bar\na/b.go:2:fooXbar"+skipped, d.ok("grep", args{"pattern": "foo"}))
	assert.Equal(t, "a/b.go:1:foo.bar", d.ok("grep", args{"pattern": "foo.bar", "literal": true, "include": "*.go"}))
	assert.Equal(t, "a.go:3:func Foo() {}", d.ok("grep", args{"pattern": "^func foo", "ignoreCase": true, "path": "a.go"}))
	assert.Equal(t, "a/b.go:2:fooXbar", d.ok("grep", args{"pattern": "[X]bar$", "include": "a/**"}))
	assert.Equal(t, "a-b/z.go:1:foo"+skipped, d.ok("grep", args{"pattern": "foo$"}))
	assert.Equal(t, "(no match)", d.ok("grep", args{"pattern": "nothing", "path": "a"}))
	assert.Equal(t, "skip/x.go:1:foo", d.ok("grep", args{"pattern": "foo", "path": "skip"}))
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "grep", args{"pattern": "a("}), "set literal")
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "grep", args{"pattern": `a(?=b)`}), "does not compile")
	assert.Equal(t, "a.go-2-\na.go:3:func Foo() {}\na.go-4-\na.go:5:func Bar() {}",
		d.ok("grep", args{"pattern": "func", "path": "a.go", "context": 1}))
	d.file("c.txt", "m\n1\n2\n3\n4\nm\n5\n")
	assert.Equal(t, "c.txt:1:m\nc.txt-2-1\n--\nc.txt-5-4\nc.txt:6:m\nc.txt-7-5",
		d.ok("grep", args{"pattern": "m", "path": "c.txt", "context": 1}))
}

func TestGrepStopsAtFiveHundredMatches(t *testing.T) {
	d := newDesk(t)
	d.file("a", strings.Repeat("x\n", 501))
	got := strings.Split(d.ok("grep", args{"pattern": "x"}), "\n")
	assert.Equal(t, 501, len(got))
	assert.Equal(t, "[more than 500 matches; narrow the search]", got[500])
}

// FIELD-K9
func TestPositionsCountCharacters(t *testing.T) {
	d := newDesk(t)
	d.file("é/日本.txt", "あいx\n")
	d.ok("edit", args{"path": "é/日本.txt", "oldText": "いx", "newText": "いy"})
	assert.Equal(t, "あいy\n", d.content("é/日本.txt"))
	assert.Equal(t, "é/日本.txt:1:あいy", d.ok("grep", args{"pattern": "y"}))
}

func TestLinksInASearchDoNotLeadOut(t *testing.T) {
	d := newDesk(t)
	d.file(d.out+"/secret.txt", "foo s3cret\n")
	d.link(filepath.Join(d.out, "secret.txt"), "leak.txt")
	d.link(d.out, "dir")
	d.file("a.txt", "foo\n")
	d.link("a.txt", "b.txt")
	assert.Equal(t, "a.txt:1:foo\nb.txt:1:foo", d.ok("grep", args{"pattern": "foo"}))
}
