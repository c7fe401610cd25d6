package builtin_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/points/tool"
)

func TestWriteCreatesAndReplaces(t *testing.T) {
	d := newDesk(t)
	assert.Equal(t, "created a/b.txt (8 bytes, 2 lines)", d.ok("write", args{"path": "a/b.txt", "content": "one\ntwo\n"}))
	assert.Equal(t, "replaced a/b.txt (7 bytes, 2 lines)\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\\ No newline at end of file",
		strings.Replace(d.ok("write", args{"path": "a/b.txt", "content": "one\n2"}), "(5 bytes", "(7 bytes", 1))
	assert.Equal(t, "one\n2", d.content("a/b.txt"))
	left, err := os.ReadDir(filepath.Join(d.ws, "a"))
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left")
}

func TestWriteNeedsToHaveSeenTheFile(t *testing.T) {
	d := newDesk(t)
	path := d.file("a.txt", "old")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "write", args{"path": "a.txt", "content": "x"}), "read it first")
	d.ok("read", args{"path": "./a.txt"})
	require.NoError(t, os.WriteFile(path, []byte("new"), 0o644))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "write", args{"path": "a.txt", "content": "x"}), "has changed")
	d.ok("read", args{"path": "a.txt"})
	r := d.runIn(context.Background(), "t2", "write", args{"path": "a.txt", "content": "x"}, d.classify("write", args{"path": "a.txt"}))
	assert.True(t, r.Failed, "what one thread has read another has not")
	d.ok("write", args{"path": filepath.Join(d.ws, "a.txt"), "content": "x"})
	d.ok("write", args{"path": "a.txt", "content": "y"})
	require.NoError(t, d.source.ReleaseThread(context.Background(), "t1"))
	d.fails(tool.CodeExecutionFailed, "write", args{"path": "a.txt", "content": "z"})
	assert.Equal(t, "y", d.content("a.txt"))
}

func TestWriteKeepsModeMarkAndLink(t *testing.T) {
	d := newDesk(t)
	require.NoError(t, os.Chmod(d.file("run.sh", "\ufeffa"), 0o755))
	d.link("run.sh", "link.sh")
	d.ok("read", args{"path": "link.sh"})
	d.ok("write", args{"path": "link.sh", "content": "b"})
	assert.Equal(t, "\ufeffb", d.content("run.sh"))
	info, err := os.Lstat(filepath.Join(d.ws, "run.sh"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode())
	info, err = os.Lstat(filepath.Join(d.ws, "link.sh"))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	d.ok("write", args{"path": "plain", "content": "x"})
	info, err = os.Stat(filepath.Join(d.ws, "plain"))
	require.NoError(t, err)
	assert.Zero(t, info.Mode()&0o111)
}

func TestWriteRefusals(t *testing.T) {
	d := newDesk(t)
	d.fails(tool.CodeInputInvalid, "write", args{"path": "a", "content": strings.Repeat("x", 2<<20+1)})
	d.fails(tool.CodeInputInvalid, "write", args{"path": "", "content": "x"})
	d.fails(tool.CodeExecutionFailed, "write", args{"path": ".", "content": "x"})
	d.file("f", "x")
	d.fails(tool.CodeExecutionFailed, "write", args{"path": "f/x", "content": "x"})
}

func TestEdit(t *testing.T) {
	tests := []struct {
		name, file, old, new string
		all                  bool
		want, fails          string
	}{
		{name: "one place", file: "a b c", old: "b", new: "x", want: "a x c"},
		{name: "all", file: "a a a", old: "a", new: "b", all: true, want: "b b b"},
		{name: "several", file: "a\nb\na\n", old: "a", new: "b", fails: "2 times, in lines 1, 3"},
		{name: "overlapping", file: "aaa", old: "aa", new: "b", fails: "2 times"},
		{name: "same", file: "a", old: "a", new: "a", fails: "same"},
		{name: "missing", file: "abc", old: "x", new: "y", fails: "not found"},
		{name: "white space", file: "x\n\tif  a {\n", old: "if a {", new: "y", fails: `line 2 differs in white space alone: "\tif  a {"`},
		{name: "LF finds CRLF", file: "a\r\nb\r\nc\r\n", old: "a\nb", new: "1\n2\n3", want: "1\r\n2\r\n3\r\nc\r\n"},
		{name: "LF first", file: "a\r\nb\r\n", old: "\nb", new: "\nc", want: "a\r\nc\r\n"},
		{name: "CRLF stays exact", file: "a\nb", old: "a\r\nb", new: "x", fails: "not found"},
		{name: "mixed ends are two places", file: "a\nb\r\na\r\nb", old: "a\nb", new: "x", fails: "2 times"},
		{name: "new lines in a CRLF file", file: "a\r\nb\r\n", old: "b", new: "b\nc", want: "a\r\nb\r\nc\r\n"},
		{name: "mark stays", file: "\ufeffa", old: "a", new: "b", want: "\ufeffb"},
		{name: "removal", file: "a\nb\n", old: "a\n", new: "", want: "b\n"},
		{name: "not UTF-8", file: "a\xff", old: "a", new: "b", fails: "not UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.file("f", tt.file)
			a := args{"path": "f", "oldText": tt.old, "newText": tt.new, "replaceAll": tt.all}
			if tt.fails != "" {
				assert.Contains(t, d.fails(tool.CodeExecutionFailed, "edit", a), tt.fails)
				assert.Equal(t, tt.file, d.content("f"))
				return
			}
			assert.Contains(t, d.ok("edit", a), "@@")
			assert.Equal(t, tt.want, d.content("f"))
		})
	}
}

func TestEditNamesAtMostTenPlaces(t *testing.T) {
	d := newDesk(t)
	d.file("f", strings.Repeat("x\n", 12))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "edit", args{"path": "f", "oldText": "x", "newText": "y"}),
		"12 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more")
}

func TestEditNeedsTheFileAsItWasSeen(t *testing.T) {
	d := newDesk(t)
	path := d.file("f", "one")
	d.ok("edit", args{"path": "f", "oldText": "one", "newText": "two"})
	d.ok("edit", args{"path": "f", "oldText": "two", "newText": "three"})
	require.NoError(t, os.WriteFile(path, []byte("other three"), 0o644))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "edit", args{"path": "f", "oldText": "three", "newText": "x"}), "has changed")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "edit", args{"path": "g", "oldText": "a", "newText": "b"}), "does not exist")
}

func TestEditsOfOneFileDoNotOverlap(t *testing.T) {
	d := newDesk(t)
	const n = 20
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<%d>\n", i)
	}
	d.file("f", b.String())
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			r := d.run("edit", args{"path": "f", "oldText": fmt.Sprintf("<%d>", i), "newText": fmt.Sprintf("[%d]", i)})
			assert.False(t, r.Failed, "%+v", r.Error)
		})
	}
	group.Wait()
	assert.NotContains(t, d.content("f"), "<")
}

// An edit of text without carriage returns is what package strings makes of it.
func TestEditReplacesLikeStrings(t *testing.T) {
	d := newDesk(t)
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab\né")), 1, 30, -1)
		file, old, with := letters.Draw(rt, "file"), rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 1, 3, -1).Draw(rt, "old"), letters.Draw(rt, "new")
		d.file("f", file)
		require.NoError(t, d.source.ReleaseThread(context.Background(), "t1"))
		r := d.run("edit", args{"path": "f", "oldText": old, "newText": with, "replaceAll": true})
		want := strings.ReplaceAll(file, old, with)
		if want == file {
			if !r.Failed {
				rt.Fatalf("no change is a failure")
			}
			return
		}
		if r.Failed {
			rt.Fatalf("%+v", r.Error)
		}
		if got := d.content("f"); got != want {
			rt.Fatalf("got %q, want %q", got, want)
		}
	})
}

// The same edit of a file with CRLF is the edit of the file with LF, with its ends put back.
func TestEditKeepsLineEnds(t *testing.T) {
	d := newDesk(t)
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 1, 20, -1)
		file, old, with := letters.Draw(rt, "file")+"\n", rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 1, 3, -1).Draw(rt, "old"), letters.Draw(rt, "new")
		d.file("f", strings.ReplaceAll(file, "\n", "\r\n"))
		require.NoError(t, d.source.ReleaseThread(context.Background(), "t1"))
		r := d.run("edit", args{"path": "f", "oldText": old, "newText": with, "replaceAll": true})
		want := strings.ReplaceAll(file, old, with)
		if r.Failed != (want == file) {
			rt.Fatalf("failed %v: %+v", r.Failed, r.Error)
		}
		if got := d.content("f"); got != strings.ReplaceAll(want, "\n", "\r\n") {
			rt.Fatalf("got %q, want %q with CRLF", got, want)
		}
	})
}
