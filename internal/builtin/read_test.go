package builtin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/builtin"
	"github.com/crystalkernel/crystal/points/tool"
)

func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%6d\tline %d\n", i, i)
	}
	return b.String()
}

func lines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadShowsNumberedLines(t *testing.T) {
	d := newDesk(t)
	d.file("a.txt", "\ufeffone\r\ntwo\n\nlast")
	assert.Equal(t, "     1\tone\n     2\ttwo\n     3\t\n     4\tlast", d.ok("read", args{"path": "a.txt"}))
	assert.Equal(t, "     4\tlast", d.ok("read", args{"path": "./x/../a.txt", "offset": 4}))
	d.file("empty", "")
	assert.Equal(t, "(empty file)", d.ok("read", args{"path": "empty"}))
}

func TestReadPages(t *testing.T) {
	d := newDesk(t)
	d.file("a.txt", lines(2500))
	assert.Equal(t, numbered(1, 2000)+"[the file has 2500 lines; go on with offset 2001]", d.ok("read", args{"path": "a.txt"}))
	assert.Equal(t, strings.TrimSuffix(numbered(2001, 2500), "\n"), d.ok("read", args{"path": "a.txt", "offset": 2001}))
	assert.Equal(t, numbered(5, 6)+"[the file has 2500 lines; go on with offset 7]", d.ok("read", args{"path": "a.txt", "offset": 5, "limit": 2}))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "a.txt", "offset": 2501}), "2500 lines")
}

func TestReadStopsAtAMillionCharacters(t *testing.T) {
	d := newDesk(t)
	d.file("wide", strings.Repeat(strings.Repeat("x", 99_992)+"\n", 12))
	got := d.ok("read", args{"path": "wide"})
	assert.Contains(t, got, "[the file has 12 lines; go on with offset 11]")
	assert.LessOrEqual(t, len(got), 1_000_100)
	d.file("one", strings.Repeat("日", 1_200_000))
	got = d.ok("read", args{"path": "one"})
	assert.Contains(t, got, "[line 1 is longer than what can be shown; the file has 1 lines")
	assert.True(t, strings.HasPrefix(got, "     1\t日日"))
	assert.NotContains(t, got, "\ufffd")
}

// FIELD-J4
func TestALongLineIsShownWhole(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("y", 69_999) + "z"
	d.file("long", long)
	assert.Equal(t, "     1\t"+long, d.ok("read", args{"path": "long"}))
	assert.Equal(t, "long:1:"+long, d.ok("grep", args{"pattern": "yz"}))
	assert.Equal(t, "exit 0\n"+long, d.ok("bash", args{"command": "cat long"}))
}

func TestReadRefusesWhatIsNoText(t *testing.T) {
	d := newDesk(t)
	d.file("b", "a\x00b")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "b"}), "binary file of 3 bytes")
	d.file("p.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "p.png"}), "an image (image/png) of 16 bytes")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "."}), "is a directory")
	require.NoError(t, os.Truncate(d.file("huge", "x"), 256<<20+1))
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "huge"}), "can't be read")
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "read", args{"path": "a\x00b"}), "zero byte")
	assert.Contains(t, d.fails(tool.CodeInputInvalid, "read", args{"path": strings.Repeat("a", 4097)}), "4096")
}

// FIELD-K8
func TestNotFoundOffersWhatIsNear(t *testing.T) {
	d := newDesk(t)
	d.file("shot 1.02\u202fPM.png", "x")
	d.file("src/Main.go", "x")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "shot 1.02 PM.png"}), "shot 1.02\u202fPM.png")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "src/main.go"}), "did you mean src/Main.go?")
	assert.Contains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "src/mian.go"}), "did you mean src/Main.go?")
	assert.NotContains(t, d.fails(tool.CodeExecutionFailed, "read", args{"path": "src/other.rs"}), "did you mean")
}

func TestReadCleansText(t *testing.T) {
	d := newDesk(t)
	d.file("a", "50%\r100%\n\x1b[31mred\x1b[0m\x07 \xff\u0085\n")
	assert.Equal(t, "     1\t100%\n     2\tred \ufffd", d.ok("read", args{"path": "a"}))
}

func TestSkillAndSpillDirectoriesCountAsInside(t *testing.T) {
	var skills string
	d := newDesk(t, func(c *builtin.Config) {
		skills = filepath.Join(filepath.Dir(c.Home), "skills")
		require.NoError(t, os.MkdirAll(skills, 0o755))
		c.SkillDirs = []string{skills}
	})
	skill := d.file(filepath.Join(skills, "x", "SKILL.md"), "how")
	spill := d.file(filepath.Join(d.home, "spill", "t1", "c9.txt"), "all of it")
	other := d.file(filepath.Join(d.home, "spill", "t2", "c9.txt"), "not yours")
	for _, path := range []string{skill, spill} {
		k := d.classify("read", args{"path": path})
		assert.Equal(t, tool.Read, k.Risk)
		assert.Equal(t, tool.Workspace, k.Authority)
		assert.Contains(t, d.ok("read", args{"path": path}), "     1\t")
	}
	assert.Contains(t, d.ok("grep", args{"pattern": "all", "path": spill}), ":1:all of it")
	assert.Equal(t, tool.OutsideWorkspace, d.classify("read", args{"path": other}).Authority)
	assert.Equal(t, tool.OutsideWorkspace, d.classify("write", args{"path": skill, "content": "x"}).Authority)
}
