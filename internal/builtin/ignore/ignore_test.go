package ignore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/builtin/ignore"
)

func TestRules(t *testing.T) {
	tests := []struct {
		rules, path string
		dir, want   bool
	}{
		{"a.o", "a.o", false, true},
		{"a.o", "x/a.o", false, true},
		{"*.o", "x/a.o", false, true},
		{"*.o", "x/a.c", false, false},
		{"/a", "a", false, true},
		{"/a", "x/a", false, false},
		{"x/a", "x/a", false, true},
		{"x/a", "y/x/a", false, false},
		{"build/", "build", true, true},
		{"build/", "build", false, false},
		{"build/", "x/build", true, true},
		{"/build/", "x/build", true, false},
		{"*.o\n!keep.o", "keep.o", false, false},
		{"!keep.o\n*.o", "keep.o", false, true},
		{"# comment", "# comment", false, false},
		{`\#file`, "#file", false, true},
		{`\!file`, "!file", false, true},
		{"a ", "a", false, true},
		{`a\ `, "a ", false, true},
		{"", "", false, false},
		{"**/x", "a/b/x", false, true},
		{"**/x", "x", false, true},
		{"a/**", "a/b/c", false, true},
		{"a/**", "a", true, false},
		{"a/**/b", "a/b", false, true},
		{"a/**/b", "a/x/y/b", false, true},
		{"a/*/b", "a/x/y/b", false, false},
		{"a?c", "abc", false, true},
		{"a?c/", "a/c", true, false},
		{"[ab].c", "b.c", false, true},
		{"[!ab].c", "b.c", false, false},
		{"[!ab].c", "c.c", false, true},
		{"[a-c]x", "bx", false, true},
		{"[[:digit:]]", "7", false, true},
		{"[]x]", "]", false, true},
		{"[a", "[a", false, false},
		{`a\`, "a", false, false},
		{"foo.*", "foo.tar.gz", false, true},
		{"f*o", "f/o", false, false},
		{"*", "anything", false, true},
		{"a\r\nb", "b", false, true},
		{"\ufeffa", "a", false, true},
		{`\日`, "日", false, true},
		{"日*", "x/日本", false, true},
		{"/", "x", true, false},
	}
	for _, tt := range tests {
		var l *ignore.List
		assert.Equal(t, tt.want, l.Add("", []byte(tt.rules)).Ignored(tt.path, tt.dir), "%q for %q", tt.rules, tt.path)
	}
}

func TestRulesBelowDecideBeforeThoseAbove(t *testing.T) {
	var top *ignore.List
	top = top.Add(".", []byte("*.log\n/only\n"))
	sub := top.Add("sub", []byte("!keep.log\n/mine\n"))
	assert.True(t, sub.Ignored("sub/a.log", false))
	assert.False(t, sub.Ignored("sub/keep.log", false))
	assert.True(t, sub.Ignored("sub/mine", false))
	assert.False(t, sub.Ignored("sub/x/mine", false))
	assert.False(t, sub.Ignored("submarine/mine", false))
	assert.True(t, top.Ignored("keep.log", false), "a list is not changed by what is added to it")
	assert.Same(t, sub, sub.Add("sub/x", []byte("# nothing\n")))
}

func FuzzRule(f *testing.F) {
	for _, seed := range []string{"*.o", "[a-", `\`, "**/**/a", "[[:alpha:]]", "a/**/b/", "[z-a]"} {
		f.Add(seed, "a/b.o")
	}
	f.Fuzz(func(_ *testing.T, rules, path string) {
		var l *ignore.List
		l.Add("", []byte(rules)).Ignored(path, false)
	})
}

func ExampleList() {
	var rules *ignore.List
	rules = rules.Add("", []byte("*.o\n/build/\n"))
	fmt.Println(rules.Ignored("src/main.o", false), rules.Ignored("build", true), rules.Ignored("src/main.c", false))
	// Output: true true false
}
