package wiretest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crystalkernel/crystal/points/model"
)

// Told plays one answer made of payloads to a client and tells in a line each what came of it: reasoning, text and
// calls, usage if there is any, and the finish, or the error. State is told behind its item in braces.
func Told(t testing.TB, create func(*Server) model.Client, contentType string, payloads ...string) string {
	t.Helper()
	var body strings.Builder
	for _, p := range payloads {
		if contentType == "text/event-stream" {
			fmt.Fprintf(&body, "data: %s\n\n", p)
			continue
		}
		body.WriteString(p + "\n")
	}
	s := Serve(func(int) Answer { return Text(200, contentType, body.String()) })
	r, _, err := Round(t, create(s), Request())
	if err != nil {
		return "error " + err.Error()
	}
	return Tell(r)
}

// Tell tells a candidate in a line each.
func Tell(r *model.Response) string {
	var lines []string
	for _, i := range r.Items {
		state := ""
		if i.State != nil {
			state = " {" + string(i.State.Data) + "}"
		}
		switch i.Kind {
		case model.ToolCall:
			lines = append(lines, fmt.Sprintf("call %s %s %s%s", i.CallID, i.Name, i.Arguments, state))
		case model.Reasoning:
			var texts []string
			for _, s := range i.Segments {
				texts = append(texts, fmt.Sprintf("%s %q", s.Kind, s.Text))
			}
			lines = append(lines, strings.TrimSpace("reasoning "+strings.Join(texts, " "))+state)
		default:
			lines = append(lines, fmt.Sprintf("text %q%s", i.Text, state))
		}
	}
	if u := r.Usage; u != nil {
		lines = append(lines, fmt.Sprintf("usage in=%d out=%d reasoning=%d cached=%d written=%d total=%d",
			u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite, u.Total))
	}
	lines = append(lines, strings.TrimSpace(fmt.Sprintf("finish %s %s", r.Finish, r.Raw)))
	return strings.Join(lines, "\n")
}
