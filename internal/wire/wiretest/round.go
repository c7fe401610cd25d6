package wiretest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/crystalkernel/crystal/points/model"
)

// Round runs one round and returns all that came of it.
func Round(t testing.TB, c model.Client, r *model.Request) (*model.Response, []model.Delta, error) {
	t.Helper()
	var deltas []model.Delta
	response, err := c.Round(t.Context(), r, func(d model.Delta) error {
		deltas = append(deltas, d)
		return nil
	})
	return response, deltas, err
}

// Text returns an answer with that body.
func Text(status int, contentType, body string) Answer {
	a := Answer{Status: status, Header: http.Header{}, Body: strings.NewReader(body)}
	if contentType != "" {
		a.Header.Set("Content-Type", contentType)
	}
	return a
}

// Always returns a server that gives the same answer each time; body makes its body anew.
func Always(a Answer, body func() io.Reader) *Server {
	return Serve(func(int) Answer {
		a := a
		if body != nil {
			a.Body = body()
		}
		return a
	})
}

// Reply is the text of a response's messages.
func Reply(r *model.Response) string {
	text := ""
	for _, i := range r.Items {
		if i.Kind == model.Message {
			text += i.Text
		}
	}
	return text
}
