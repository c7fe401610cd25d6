package framing_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/internal/wire/framing"
)

// cut gives pieces of the given sizes, over and over.
type cut struct {
	r     io.Reader
	sizes []int
	n     int
}

func (c *cut) Read(p []byte) (int, error) {
	size := c.sizes[c.n%len(c.sizes)]
	c.n++
	return c.r.Read(p[:min(len(p), size)])
}

func lines(t require.TestingT, r io.Reader) []string {
	l := framing.NewLines(r)
	var all []string
	for {
		line, err := l.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, string(line))
	}
}

func TestLineEnds(t *testing.T) { // FIELD-P2, FIELD-K7
	for text, want := range map[string][]string{
		"":                                  nil,
		"a":                                 {"a"},
		"a\nb":                              {"a", "b"},
		"a\r\nb\rc\n":                       {"a", "b", "c"},
		"\r\r\n\n":                          {"", "", ""},
		"\xEF\xBB\xBFa\n\xEF\xBB\xBF":       {"a", "\xEF\xBB\xBF"},
		"one\u2028two\u2029three\u0085four": {"one\u2028two\u2029three\u0085four"},
	} {
		assert.Equal(t, want, lines(t, strings.NewReader(text)), "%q", text)
		assert.Equal(t, want, lines(t, iotest.OneByteReader(strings.NewReader(text))), "%q", text)
		assert.Equal(t, want, lines(t, iotest.DataErrReader(strings.NewReader(text))), "%q", text)
	}
}

// naive cuts a whole text into lines.
func naive(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	all := strings.Split(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

func TestCutsChangeNothing(t *testing.T) { // FIELD-P1
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "é🙂", "\r", "\n", "\r\n", "data: ", ":"})).Draw(t, "text"), "")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 1, 5).Draw(t, "sizes")
		assert.Equal(t, naive(text), lines(t, &cut{r: strings.NewReader(text), sizes: sizes}))
	})
}

func TestTheErrorOfTheReaderComesLast(t *testing.T) {
	broken := errors.New("broken")
	l := framing.NewLines(io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	line, err := l.Next()
	require.NoError(t, err)
	assert.Equal(t, "a", string(line))
	_, err = l.Next()
	require.ErrorIs(t, err, broken, "half a line is none")
}

func TestLongLines(t *testing.T) { // FIELD-J7
	long := strings.Repeat("a", framing.MaxLine)
	assert.Equal(t, []string{long, "b"}, lines(t, strings.NewReader(long+"\nb")))
	_, err := framing.NewLines(strings.NewReader(long + "aa\nb")).Next()
	require.ErrorIs(t, err, framing.ErrTooLong)
	half := "data: " + strings.Repeat("a", framing.MaxLine/2) + "\n"
	_, err = framing.NewEvents(strings.NewReader(half + half + half)).Next()
	require.ErrorIs(t, err, framing.ErrTooLong)
}

func events(r io.Reader) string {
	e := framing.NewEvents(r)
	var all []string
	for {
		event, err := e.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				all = append(all, err.Error())
			}
			return strings.Join(all, "|")
		}
		all = append(all, strings.TrimPrefix(string(event.Name)+"="+string(event.Data), "="))
	}
}

func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"data: {}\n\n":                                   "{}",
		"data:{}\r\n\r\ndata:{\"a\":1}":                  `{}|{"a":1}`,
		"data: {\"a\":\ndata: 1}\n\n":                    "{\"a\":\n1}", // FIELD-P2
		"data: {}\ndata: {\"b\":2}\ndata: [DONE]\n\n":    `{}|{"b":2}|[DONE]`,
		"data: {}\ndata: oops\n\n":                       "{}\noops",
		": c\n\nevent: x\nid: 7\nretry: 3\ndata: {}\n\n": "x={}", // FIELD-P3
		"event: x\n\ndata: {}\n\n":                       "{}",
		"data: : PROCESSING\n\ndata:\n\ndata:  \n\n":     "", // FIELD-P4
		"data: {}\ndata:\n\n":                            "{}\n",
		"data:  {}\n\n":                                  " {}",
		"data\n\ndata: {}\n\n":                           "{}",
		"nonsense\n\n{}\n\n":                             "",
		"data: {}\nevent: late\n\n":                      "late={}",
	} {
		assert.Equal(t, want, events(strings.NewReader(text)), "%q", text)
		assert.Equal(t, want, events(iotest.OneByteReader(strings.NewReader(text))), "%q", text)
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\r\n\r\n: c\ndata: {\"a\":\rdata: 1}\n\n"), uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, size uint8) {
		whole := events(bytes.NewReader(body))
		if got := events(&cut{r: bytes.NewReader(body), sizes: []int{int(size) + 1}}); got != whole {
			t.Fatalf("%q in pieces of %d: %q instead of %q", body, int(size)+1, got, whole)
		}
		for _, line := range naive(string(body)) {
			if len(line) > len(body) {
				t.Fatal("a line longer than its text")
			}
		}
	})
}

func BenchmarkEvents(b *testing.B) {
	body := strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\" token\"}}]}\n\n", 1000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		e := framing.NewEvents(strings.NewReader(body))
		for {
			if _, err := e.Next(); err != nil {
				break
			}
		}
	}
}
