package offline_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/offline"
	"github.com/crystalkernel/crystal/points/model"
)

func TestSummaryLooksAtTheWorkspaceInTwoSteps(t *testing.T) {
	client, err := offline.NewFactory().Create(t.Context(), model.ClientRequest{Protocol: "offline", Provider: "offline", Model: "rules"})
	require.NoError(t, err)
	ask := func(items ...*model.Item) *model.Response {
		t.Helper()
		r, err := client.Round(context.Background(), &model.Request{Items: items}, func(model.Delta) error { return nil })
		require.NoError(t, err)
		return r
	}
	user := &model.Item{Kind: model.Message, Role: model.User, Text: "Summarize this repository"}
	first := ask(user)
	require.Len(t, first.Items, 1)
	require.Equal(t, "list", first.Items[0].Name)

	listing := &model.Item{Kind: model.ToolResult, CallID: first.Items[0].CallID, Status: model.Success, Text: "cmd/\nREADME.md\ngo.mod"}
	second := ask(user, first.Items[0], listing)
	require.Equal(t, "read", second.Items[0].Name)
	require.JSONEq(t, `{"path":"README.md","limit":40}`, second.Items[0].Arguments)

	readme := &model.Item{
		Kind: model.ToolResult, CallID: second.Items[0].CallID, Status: model.Success,
		Text: "     1\t# Crystal\n     2\t\n     3\tAn agent kernel.\n     4\t\n     5\t## More\n",
	}
	last := ask(user, first.Items[0], listing, second.Items[0], readme)
	require.Equal(t, model.FinishStop, last.Finish)
	require.Contains(t, last.Items[0].Text, "1 directories and 2 files at its top: cmd/, README.md, go.mod.")
	require.Contains(t, last.Items[0].Text, "# Crystal\nAn agent kernel.")
	require.NotContains(t, last.Items[0].Text, "More")

	listing.Status = model.Failure
	require.Contains(t, ask(user, first.Items[0], listing).Items[0].Text, "list: failed")
}
