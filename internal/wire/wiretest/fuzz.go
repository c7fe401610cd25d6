package wiretest

import (
	"bytes"
	"net/http"
	"regexp"
	"testing"

	"github.com/crystalkernel/crystal/points/model"
)

// made are the ids that are made at random.
var made = regexp.MustCompile(`(call|gemini|ollama)_[0-9a-f]{32}`)

// Fuzz reads bodies of any kind, beginning with the recorded ones, and checks that the cuts between reads change nothing
// and that no answer is both whole and an error.
func Fuzz(f *testing.F, protocol string, create func(testing.TB, http.RoundTripper) model.Client) {
	f.Helper()
	for _, c := range Cases(f, protocol) {
		f.Add(c.Body, uint8(3))
	}
	f.Fuzz(func(t *testing.T, body []byte, size uint8) {
		read := func(n int) string {
			s := Serve(func(int) Answer {
				return Answer{Header: http.Header{}, Body: Pieces(bytes.NewReader(body), n)}
			})
			r, _, err := Round(t, create(t, s), Request())
			if (r == nil) == (err == nil) {
				t.Fatalf("response %v, error %v", r, err)
			}
			if err != nil {
				return err.Error()
			}
			return made.ReplaceAllString(Tell(r), "made")
		}
		whole := read(len(body) + 1)
		if cut := read(int(size) + 1); cut != whole {
			t.Fatalf("whole:\n%s\nin pieces of %d:\n%s", whole, int(size)+1, cut)
		}
	})
}
