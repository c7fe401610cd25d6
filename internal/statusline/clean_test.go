package statusline

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestTextsBecomeOneCleanLine(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"FIELD-K6":          {"a\x1b[31mb\n\tc" + strings.Repeat("x", 100), "ab  c" + strings.Repeat("x", 59)},
		"STATUS-2":          {strings.Repeat("x", 30) + "\n" + strings.Repeat("y", 69), strings.Repeat("x", 30) + " " + strings.Repeat("y", 33)},
		"carriage returns":  {"a\r\nb\rc", "a  b c"},
		"other controls":    {"a\x00b\x7fc\u0085d\u009b31me", "abcde"},
		"line separators":   {"a\u2028b\u2029c", "a b c"},
		"blank":             {" \t\r\n\x1b[0m ", ""},
		"a title sequence":  {"\x1b]0;title\x07green", "green"},
		"no valid encoding": {"a\xffb", "a\ufffdb"},
		"characters count":  {strings.Repeat("é", 70), strings.Repeat("é", 64)},
		"exactly as long":   {strings.Repeat("é", 64), strings.Repeat("é", 64)},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, clean(c.text)) })
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\n\tc")
	f.Add("\x1b]0;\r\u2028")
	f.Fuzz(func(t *testing.T, text string) {
		out := clean(text)
		if utf8.RuneCountInString(out) > maxText || !utf8.ValidString(out) || strings.ContainsFunc(out, unicode.IsControl) {
			t.Fatalf("%q became %q", text, out)
		}
		if again := clean(out); again != out {
			t.Fatalf("%q became %q and then %q", text, out, again)
		}
	})
}
