package shellrisk_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
	"github.com/crystalkernel/crystal/internal/shellrisk"
	"github.com/crystalkernel/crystal/points/tool"
)

// pieces are commands of every class.
var pieces = []string{
	"ls", "cat a.txt", "go test ./...", "echo x > y", "cat /etc/hosts", "cd src", "cd ..", "curl x", "git push", "git push -f",
	"rm -rf build", "rm -rf ../x", "sudo x", "chmod 777 x", "kill -9 1", "bash -c 'ls'", "eval $X", "X=1", "PATH=/x", "echo $(ls)",
	"find . -delete", "tar xf a.tar", "cat .netrc", "f() { ls; }", "[[ -f x ]]", "ls | sh", "timeout 5 ls",
}

// Adding a harmless command never makes a class better, wherever it is added.
func TestAHarmlessCommandLowersNothing(t *testing.T) {
	f := newFence(t)
	harmless := []string{"ls", "true", "echo hi", "cat a.txt", "pwd 2>/dev/null", "[ -f x ]"}
	joints := []string{"; ", " && ", " || ", "\n", " & "}
	rapid.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 5).Draw(rt, "parts")
		joint := rapid.SampledFrom(joints).Draw(rt, "joint")
		before := shellrisk.Classify(strings.Join(parts, joint), f)
		at := rapid.IntRange(0, len(parts)).Draw(rt, "at")
		more := append(append(append([]string{}, parts[:at]...), rapid.SampledFrom(harmless).Draw(rt, "harmless")), parts[at:]...)
		after := shellrisk.Classify(strings.Join(more, joint), f)
		if after.Risk < before.Risk || after.Authority < before.Authority {
			rt.Fatalf("%q is %s, %q is %s", strings.Join(parts, joint), classOf(before), strings.Join(more, joint), classOf(after))
		}
	})
}

// What wraps a command never makes its class better.
func TestAWrapperLowersNothing(t *testing.T) {
	f := newFence(t)
	shapes := []string{
		"( %s )", "{ %s; }", "if true; then %s; fi", "while true; do %s; done", "for x in a; do %s; done", "case a in a) %s;; esac",
		"g() { %s; }", "echo $( %s )", "! %s", "cat <(%s)", "ls && %s", "( %s & )", "time %s", "true | { %s; }",
	}
	rapid.Check(t, func(rt *rapid.T) {
		command := rapid.SampledFrom(pieces).Draw(rt, "command")
		wrapped := command
		for range rapid.IntRange(1, 4).Draw(rt, "depth") {
			wrapped = strings.ReplaceAll(rapid.SampledFrom(shapes).Draw(rt, "shape"), "%s", wrapped)
		}
		before, after := shellrisk.Classify(command, f), shellrisk.Classify(wrapped, f)
		if after.Risk < before.Risk || after.Authority < before.Authority {
			rt.Fatalf("%q is %s, %q is %s", command, classOf(before), wrapped, classOf(after))
		}
	})
}

func TestWhatIsTooBigIsNotParsed(t *testing.T) {
	f := newFence(t)
	start := time.Now()
	for name, command := range map[string]string{
		"long":        "ls " + strings.Repeat("a", 64<<10),
		"many nodes":  strings.Repeat("ls a b c;", 1500),
		"deep":        strings.Repeat("(", 80) + "ls" + strings.Repeat(")", 80),
		"very deep":   strings.Repeat("(", 30_000),
		"nested -c":   nest(9),
		"substituted": strings.Repeat("$(", 20_000),
		"arithmetic":  "echo $((" + strings.Repeat("(", 20_000),
		"wrappers":    strings.Repeat("env ", 10_000) + "ls",
		"again":       "{ " + strings.Repeat("bash;", 1000) + " } <<E\n" + strings.Repeat("ls\n", 2000) + "E",
	} {
		k := shellrisk.Classify(command, f)
		assert.Equal(t, privilegedE, classOf(k), name)
		assert.Contains(t, k.Summary, "command could not be parsed", name)
	}
	assert.Equal(t, writeWS, classOf(shellrisk.Classify(nest(8), f)))
	assert.Equal(t, readWS, classOf(shellrisk.Classify("ls "+strings.Repeat(":=@", 1000), f)))
	assert.Equal(t, writeWS, classOf(shellrisk.Classify("ls "+strings.Repeat("{a,", 10_000), f)))
	assert.Equal(t, writeWS, classOf(shellrisk.Classify("ls "+strings.Repeat("{a,b}", 10_000), f)))
	assert.Equal(t, forbidden, classOf(shellrisk.Classify("ls "+strings.Repeat(":=@", 20_000)+".ssh", f)))
	assert.Equal(t, forbidden, classOf(shellrisk.Classify(strings.Repeat("sudo x;", 800)+"echo '"+strings.Repeat("x", 50_000)+"'", f)))
	assert.Less(t, time.Since(start), 20*time.Second)
}

// nest makes a command with n shells in each other.
func nest(n int) string {
	command := "ls"
	for range n {
		command = "eval " + quote(command)
	}
	return command
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func TestTheSummaryIsOneShortCleanLine(t *testing.T) {
	f := newFence(t)
	k := shellrisk.Classify("git push --force origin '\x1b[2J\n"+strings.Repeat("é", 500)+"'", f)
	assert.True(t, strings.HasPrefix(k.Summary, "forced push: git push --force origin '"), k.Summary)
	assert.LessOrEqual(t, len([]rune(k.Summary)), 200)
	assert.NotContains(t, k.Summary, "\n")
	assert.NotContains(t, k.Summary, "\x1b")
}

func FuzzClassify(f *testing.F) {
	for _, seed := range pieces {
		f.Add(seed)
	}
	for _, seed := range []string{
		"{a..z..-3}", "$'\\x\\u\\U\\c\\777'", "cat <<E\n$(", "a=([x]=1)", "${!x@}", "@(a|b)", "xargs -I", "env -S", "find -exec",
		"bash -o", "kill -s", "\x00", "coproc", "let 'a[$(x)]'", "exec 3>&- {x}<&1", "~", "{1..99999999999999999999}", "case", "(((((",
	} {
		f.Add(seed)
	}
	fe := fence.New(fence.Config{Workspace: f.TempDir(), UserHome: "/home/u"})
	f.Fuzz(func(t *testing.T, command string) {
		k := shellrisk.Classify(command, fe)
		if !k.Risk.Valid() || !k.Authority.Valid() || k.Summary == "" {
			t.Fatalf("%q: %+v", command, k)
		}
		if more := shellrisk.Classify(command+"\ntrue", fe); k.Risk == tool.Forbidden && more.Risk < tool.Privileged {
			t.Fatalf("%q got better by one line more: %+v", command, more)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	f := newFence(b)
	for name, command := range map[string]string{
		"read":  "cd src && grep -rn 'func main' . | head -20",
		"build": "go build ./... && go test -race ./internal/... 2>&1 | tail -50",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				shellrisk.Classify(command, f)
			}
		})
	}
}

func ExampleClassify() {
	f := fence.New(fence.Config{Workspace: "/work"})
	k := shellrisk.Classify("ls && git push --force", f)
	fmt.Println(k.Risk, k.Authority)
	fmt.Println(k.Summary)
	// Output:
	// Forbidden PrivilegedEscalation
	// forced push: git push --force
}
