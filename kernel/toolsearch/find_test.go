package toolsearch_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/kernel/toolsearch"
	"github.com/crystalkernel/crystal/kernel/toolset"
	"github.com/crystalkernel/crystal/points/tool"
)

func deferred(namespace, name, description, text string) *toolset.Tool {
	d := &tool.Definition{
		Namespace: namespace, Name: name, Description: description, Exposure: tool.DeferredTool,
		Deferred: &tool.Deferred{SearchText: text, Namespace: namespace},
	}
	return &toolset.Tool{Definition: d, Canonical: d.Canonical(), Flat: name}
}

var tools = []*toolset.Tool{
	deferred("git", "listPullRequests", "Lists pull requests.", "review merge"),
	deferred("git", "open_pull_request", "Opens one.", ""),
	deferred("mail", "send", "Sends a mail.", "open letter"),
	deferred("mail", "pull", "Fetches new mail.", ""),
	deferred("", "clock", "Tells the time.", "pulling"),
}

func names(list []*toolset.Tool) (out []string) {
	for _, t := range list {
		out = append(out, t.Canonical)
	}
	return out
}

func TestNamesCountMoreThanTexts(t *testing.T) {
	for _, c := range []struct {
		query, namespace string
		limit            int
		want             []string
	}{
		{"pull", "", 10, []string{"git.listPullRequests", "git.open_pull_request", "mail.pull", "clock"}},
		{"PULL request", "", 10, []string{"git.open_pull_request", "git.listPullRequests", "mail.pull", "clock"}},
		{"open", "", 10, []string{"git.open_pull_request", "mail.send"}},
		{"merge", "", 10, []string{"git.listPullRequests"}},
		{"mail", "", 10, []string{"mail.pull", "mail.send"}},
		{"pull", "mail", 10, []string{"mail.pull"}},
		{"pull", "", 1, []string{"git.listPullRequests"}},
		{"", "mail", 10, []string{"mail.pull", "mail.send"}},
		{"zebra", "", 10, nil},
		{"?!", "none", 10, nil},
	} {
		assert.Equal(t, c.want, names(toolsearch.Find(c.query, c.namespace, tools, c.limit)), "%+v", c)
	}
}

func TestTheOrderOfTheToolsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		query := rapid.SampledFrom([]string{"pull", "open mail", "", "request time", "s"}).Draw(rt, "query")
		limit := rapid.IntRange(0, 6).Draw(rt, "limit")
		mixed := rapid.Permutation(tools).Draw(rt, "order")
		got := toolsearch.Find(query, "", mixed, limit)
		assert.Equal(rt, names(toolsearch.Find(query, "", tools, limit)), names(got))
		assert.LessOrEqual(rt, len(got), limit)
	})
}

func BenchmarkFind(b *testing.B) {
	var many []*toolset.Tool
	for i := range 1000 {
		many = append(many, deferred(fmt.Sprintf("ns%d", i%50), fmt.Sprintf("do_thing_%d", i), "Does a thing with a long description of what it does.", "words to be found by"))
	}
	b.ReportAllocs()
	for b.Loop() {
		if n := len(toolsearch.Find("thing description 42", "", many, 10)); n != 10 {
			b.Fatal(n)
		}
	}
}
