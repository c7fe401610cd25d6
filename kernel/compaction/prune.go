package compaction

import (
	"context"
	"fmt"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/model"
)

const (
	keptOutput  = 40000 // tokens of the newest tool outputs that are never dropped
	worthOutput = 20000 // dropping this much or less is not worth a change of the request
	keptTurns   = 2     // user messages that are passed before anything is dropped
)

// prune drops old tool outputs, and returns how many tokens that frees.
func (r *run) prune(ctx context.Context) (freed int, err error) {
	items := r.in.Log.Items()
	names := callNames(items)
	may := make(map[string]bool)
	var ids []string
	kept, dropped, users := 0, 0, 0
	summary := r.in.Log.Summary()
	for i := len(items) - 1; i >= 0; i-- {
		it := items[i]
		if it == summary || it.ID != "" && r.in.Log.Pruned(it.ID) {
			break
		}
		if it.Kind == model.Message && it.Role == model.User {
			users++
		}
		if users < keptTurns || it.Kind != model.ToolResult || it.Status != model.Success || it.ID == "" {
			continue
		}
		tokens := estimate.Item(it, r.in.Sends)
		if kept += tokens; kept <= keptOutput {
			continue
		}
		yes, asked := may[names[i]]
		if !asked {
			if yes, err = r.droppable(ctx, names[i]); err != nil {
				return 0, err
			}
			may[names[i]] = yes
		}
		if yes {
			ids = append(ids, it.ID)
			dropped += tokens
		}
	}
	if dropped <= worthOutput {
		return 0, nil
	}
	if err := r.in.Log.Append(&threadlog.Prune{Items: ids}); err != nil {
		return 0, fmt.Errorf("compact thread %s: %w", r.in.Thread, err)
	}
	return dropped - len(ids)*estimate.Text(threadlog.PrunedText), nil
}

// droppable asks the policies about a tool. Nobody's answer is no.
func (r *run) droppable(ctx context.Context, tool string) (bool, error) {
	if r.in.Policies == nil {
		return false, nil
	}
	ask := func(ctx context.Context, p compaction.ToolPolicy) (bool, bool, error) {
		return p.Compactable(ctx, tool)
	}
	yes, known, err := contrib.First(ctx, r.in.Policies(), ask, r.in.Report)
	if err != nil {
		return false, fmt.Errorf("compact thread %s: tool policy: %w", r.in.Thread, err)
	}
	return yes && known, nil
}

// callNames finds the name of the call of each result. An id that is used again is another call from there on.
func callNames(items []*model.Item) []string {
	names := make([]string, len(items))
	byID := make(map[string]string)
	for i, it := range items {
		switch it.Kind {
		case model.ToolCall:
			byID[it.CallID] = it.Name
		case model.ToolResult:
			names[i] = byID[it.CallID]
		}
	}
	return names
}
