package terminal_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/terminal"
)

func TestCleanRemovesWhatDrivesATerminal(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":                     {"a\tb\nc 日本", "a\tb\nc 日本"},
		"FIELD-K3":                  {"50%\r100%\n\x1b[2J\x1b[1;1Hpwn\x1b[31mred\x1b[0m", "50%100%\npwnred"},
		"FIELD-K4":                  {"a\x1b]52;c;aGk=\x07b\x1b]0;owned\x1b\\c\x1b]0;never", "abc"},
		"unended OSC keeps lines":   {"a\x1b]0;x\nb", "a\nb"},
		"eight-bit introducers":     {"a\u009b2Jb\u009d0;t\u009cc\u0085d", "abcd"},
		"other escapes":             {"a\x1bcb\x1b(Bc\x1b7d\x1b#8e", "abcde"},
		"a lone escape at the end":  {"a\x1b", "a"},
		"an escape within a string": {"a\x1b]0;x\x1b[31mb", "ab"},
		"CRLF":                      {"a\r\nb", "a\nb"},
		"bell, backspace, delete":   {"a\ab\bc\x7fd\x00", "abcd"},
		"bytes that are no text":    {"a\xffb", "a\ufffdb"},
		"U+2028 is text":            {"a\u2028b", "a\u2028b"},
		"DCS and APC":               {"a\x1bPq#0\x1b\\b\x1b_Gf=1\x1b\\c", "abc"},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, terminal.Clean(tt.in)) })
	}
}

func TestLineIsOneLineWithinItsLimit(t *testing.T) {
	assert.Equal(t, "ab  c"+strings.Repeat("x", 5), terminal.Line("a\x1b[31mb\n\tc"+strings.Repeat("x", 5), 64))
	assert.Equal(t, "日…", terminal.Line("日本語", 2), "FIELD-J5: cut at a character")
	assert.Equal(t, "日本語", terminal.Line("日本語", 3))
	assert.Equal(t, "", terminal.Line(" \n ", 5))
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"a\x1b[2J", "\x1b]0;x\a", "\u009b", "\xff\x1b", "日本"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := terminal.Clean(s)
		if !utf8.ValidString(got) {
			t.Fatal("not UTF-8")
		}
		for _, r := range got {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				t.Fatalf("%U is left", r)
			}
		}
		if terminal.Clean(got) != got {
			t.Fatal("cleaning twice differs")
		}
		if strings.Count(got, "\n") != strings.Count(s, "\n") {
			t.Fatal("a line was lost")
		}
	})
}

func TestWidthCountsCells(t *testing.T) {
	for text, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "a\u200bb": 2, "🙂": 2, "ﾊ": 1} {
		assert.Equal(t, want, terminal.Width(text), text)
	}
}

func listing() terminal.Listing {
	return terminal.Listing{
		Columns: []string{"Name", "Enabled", "Problem"},
		Rows:    [][]string{{"日本", terminal.Yes(true), ""}, {"acme", terminal.Yes(false), "bad\x1b[31m\nvalue of some length"}},
		Records: []any{map[string]any{"name": "日本"}, map[string]any{"name": "<acme>\u2028"}},
		Empty:   "There is nothing.",
	}
}

func TestListingHasTheSameCellsInTableAndText(t *testing.T) {
	want := "" +
		"Name  Enabled  Problem\n" +
		"日本  Yes      -\n" +
		"acme  No       bad value of some length\n"
	for _, f := range []terminal.Format{terminal.Table, terminal.Text} {
		var b bytes.Buffer
		require.NoError(t, listing().Print(terminal.Stream{W: &b}, f))
		assert.Equal(t, want, b.String(), f)
	}
}

func TestTableIsFittedToTheTerminal(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, listing().Print(terminal.Stream{W: &b, Width: 30, Colour: true}, terminal.Table))
	for line := range strings.Lines(b.String()) {
		assert.LessOrEqual(t, terminal.Width(terminal.Clean(strings.TrimSuffix(line, "\n"))), 30)
	}
	assert.Contains(t, b.String(), "\x1b[1mName\x1b[0m")
	assert.Contains(t, b.String(), "…")

	b.Reset()
	require.NoError(t, listing().Print(terminal.Stream{W: &b, Width: 30}, terminal.Text))
	assert.Contains(t, b.String(), "value of some length", "text is never cut")
}

func TestListingAsJSONIsOneObjectPerLine(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, listing().Print(terminal.Stream{W: &b}, terminal.JSON))
	assert.Equal(t, "{\"name\":\"日本\"}\n{\"name\":\"<acme>\\u2028\"}\n", b.String())
}

// HOST-39: no rows are one line for people and nothing for machines.
func TestEmptyListing(t *testing.T) {
	empty := terminal.Listing{Columns: []string{"Name"}, Empty: "There is nothing."}
	for f, want := range map[terminal.Format]string{terminal.Table: "There is nothing.\n", terminal.Text: "There is nothing.\n", terminal.JSON: ""} {
		var b bytes.Buffer
		require.NoError(t, empty.Print(terminal.Stream{W: &b}, f))
		assert.Equal(t, want, b.String(), f)
	}
}

func TestPairsAreAligned(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, terminal.PrintPairs(terminal.Stream{W: &b}, terminal.Pair{Label: "Id", Value: "acme.x"}, terminal.Pair{Label: "Display name"}))
	assert.Equal(t, "Id            acme.x\nDisplay name  -\n", b.String())
}

func TestParseFormatNamesTheKnownOnes(t *testing.T) {
	f, err := terminal.ParseFormat("json")
	require.NoError(t, err)
	assert.Equal(t, terminal.JSON, f)
	_, err = terminal.ParseFormat("yaml")
	assert.ErrorContains(t, err, "table, text or json")
}
