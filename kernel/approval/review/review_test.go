package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/kernel/approval/review"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

func said(role model.Role, text string) *model.Item {
	return &model.Item{Kind: model.Message, Role: role, Text: text}
}

func result(status model.Status, text string) *model.Item {
	return &model.Item{Kind: model.ToolResult, Status: status, Text: text}
}

func TestAnswer(t *testing.T) {
	whole := `{"outcome":"%s","risk_level":"low","user_authorization":"explicit","rationale":"because"}`
	for _, tt := range []struct {
		text string
		want approval.Review
	}{
		{fmt.Sprintf(whole, "allow"), approval.Review{Outcome: approval.ReviewAllow, RiskLevel: "low", Authorization: "explicit", Rationale: "because"}},
		{"Sure:\n```json\n" + fmt.Sprintf(whole, "deny") + "\n```", approval.Review{Outcome: approval.ReviewDeny, RiskLevel: "low", Authorization: "explicit", Rationale: "because"}},
		{fmt.Sprintf(whole, "ask_user"), approval.Review{RiskLevel: "low", Authorization: "explicit", Rationale: "because"}},
		{`{"decision":"allow","risk":"x","authority":"y","reason":"z"}`, approval.Review{Outcome: approval.ReviewAllow, RiskLevel: "x", Authorization: "y", Rationale: "z"}},
		{fmt.Sprintf(whole, "yes"), approval.Review{}},
		{fmt.Sprintf(whole, ""), approval.Review{}},
		{`{"outcome":"allow","risk_level":"low","user_authorization":" ","rationale":"because"}`, approval.Review{}},
		{`{"outcome":"allow","risk_level":1,"user_authorization":"x","rationale":"because"}`, approval.Review{}},
		{`{"outcome":"allow"}`, approval.Review{}},
		{`[]`, approval.Review{}},
		{`}{`, approval.Review{}},
		{`{} allow {}`, approval.Review{}},
		{"", approval.Review{}},
	} {
		assert.Equal(t, tt.want, review.Answer(tt.text), tt.text)
	}
}

func TestExcerptKeepsTheOrderAndNamesWhoSpoke(t *testing.T) {
	got, ok := review.Excerpt([]string{"earlier"}, []*model.Item{
		said(model.System, "secret system text"),
		said(model.User, "do it"),
		{Kind: model.Reasoning, Segments: []model.Segment{{Text: "hmm"}}},
		said(model.Assistant, " "),
		{Kind: model.ToolCall, Name: "bash", Arguments: `{"command":"ls"}`},
		result(model.Success, "a.txt"),
		result(model.Failure, "no"),
		said(model.Assistant, "done"),
	})
	require.True(t, ok)
	assert.Equal(t, "[summary]\nearlier\n\n[user]\ndo it\n\n[tool call]\nbash {\"command\":\"ls\"}\n\n[tool result]\na.txt\n\n[tool error]\nno\n\n[assistant]\ndone", got)
}

func TestExcerptPrefersTheUser(t *testing.T) {
	var items []*model.Item
	items = append(items, said(model.User, "first"+strings.Repeat("a", 9000)))
	for i := range 60 {
		items = append(items, said(model.Assistant, fmt.Sprintf("assistant %d", i)), result(model.Success, fmt.Sprintf("result %d ", i)+strings.Repeat("r", 300)))
	}
	items = append(items, said(model.User, "middle"+strings.Repeat("b", 6000)), said(model.User, "old"+strings.Repeat("c", 6000)), said(model.User, "last"))
	got, ok := review.Excerpt(nil, items)
	require.True(t, ok)
	assert.True(t, strings.HasPrefix(got, "[parts of the conversation were left out]\n\n[user]\nfirst"))
	assert.Contains(t, got, "last")
	assert.Contains(t, got, "old")
	assert.NotContains(t, got, "middle", "the newer one took its place")
	assert.LessOrEqual(t, strings.Count(got, "[assistant]")+strings.Count(got, "[tool result]"), 40)
	assert.Contains(t, got, "result 59")
	assert.NotContains(t, got, "result 1 ")
	assert.LessOrEqual(t, strings.Count(got, "r"), 9000)
}

// APPR-8
func TestWithoutEvidenceNoRequestIsMade(t *testing.T) {
	asked := 0
	var items []*model.Item
	completer := review.CompleterFunc(func(context.Context, string, string) (string, error) {
		asked++
		return "", errors.New("provider is down")
	})
	r := review.New(review.Config{
		Completer:     completer,
		Conversations: review.ConversationsFunc(func(string) ([]string, []*model.Item) { return nil, items }),
	})
	items = []*model.Item{said(model.User, " \n"), said(model.Assistant, "hello")}
	_, err := r.Review(context.Background(), dispatch.Call{})
	assert.ErrorIs(t, err, approval.ErrNoEvidence)
	assert.Zero(t, asked)
	items = []*model.Item{said(model.User, "go")}
	got, err := r.Review(context.Background(), dispatch.Call{})
	assert.Error(t, err)
	assert.Equal(t, approval.Review{}, got)
	assert.Equal(t, 1, asked)
}

func TestTheRequest(t *testing.T) {
	var system, user string
	r := review.New(review.Config{
		Completer: review.CompleterFunc(func(_ context.Context, s, u string) (string, error) {
			system, user = s, u
			return `{"outcome":"deny","risk_level":"high","user_authorization":"none","rationale":"no"}`, nil
		}),
		Conversations: review.ConversationsFunc(func(thread string) ([]string, []*model.Item) {
			return []string{"of " + thread}, nil
		}),
		User: "{{tool_name}}|{{tool_arguments}}|{{host_risk}}|{{host_authority}}|{{classification_summary}}|{{conversation}}",
	})
	got, err := r.Review(context.Background(), dispatch.Call{
		Thread: "t1", Definition: &tool.Definition{Namespace: "a", Name: "b"}, Arguments: json.RawMessage(`{"x":"{{host_risk}}"}`),
		Classification: tool.Classification{Risk: tool.Write, Authority: tool.Network, Summary: "sends"},
	})
	require.NoError(t, err)
	assert.Equal(t, approval.ReviewDeny, got.Outcome)
	assert.Equal(t, review.DefaultSystem, system)
	assert.Equal(t, "a.b|{\"x\":\"{{host_risk}}\"}|Write|Network|sends|[summary]\nof t1", user)
}

func ExampleAnswer() {
	r := review.Answer(`I would not: {"outcome": "deny", "risk": "high", "authorization": "none", "reason": "deletes the home directory"}`)
	fmt.Println(r.Outcome == approval.ReviewDeny, r.Rationale)
	// Output: true deletes the home directory
}
