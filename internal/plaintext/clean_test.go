package plaintext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/plaintext"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\nof two lines":    "plain\ttext\nof two lines",
		"a\r\nb\r\n":                   "a\nb\n",
		"50%\r100%\n":                  "100%\n",
		"\x1b[31mred\x1b[0m":           "red",
		"\x1b]0;title\x07shown":        "shown",
		"\x1b]8;;http://x\x1b\\link":   "link",
		"\x1b[12\nnext":                "\nnext",
		"nul\x00 bell\x07 del\x7f":     "nul bell del",
		"c1 \u0085\u009b31m":           "c1 31m",
		"bad \xff byte":                "bad \ufffd byte",
		"wide 漢字 and \u200bzero width": "wide 漢字 and \u200bzero width",
		"":                             "",
		"\x1b":                         "",
	} {
		assert.Equal(t, want, plaintext.Clean(text), "%q", text)
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"a\r\nb\rc", "\x1b[31mred\x1b[0m", "\x1b]0;t\x07", "\xff\x1bP\n", "\u009b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean := plaintext.Clean(text)
		if !utf8.ValidString(clean) {
			t.Fatalf("%q is no UTF-8", clean)
		}
		if at := strings.IndexFunc(clean, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f }); at >= 0 {
			t.Fatalf("%q holds a control character at %d", clean, at)
		}
		if again := plaintext.Clean(clean); again != clean {
			t.Fatalf("%q becomes %q", clean, again)
		}
		if !plaintext.Tidy(clean) {
			t.Fatalf("%q is clean and not tidy", clean)
		}
	})
}
