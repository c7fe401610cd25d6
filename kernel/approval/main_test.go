package approval_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/crystalkernel/crystal/kernel/approval"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is an operator who gives the answers in order, and nobody when there are none left.
type script struct {
	mu      sync.Mutex
	answers []approval.Answer
	prompts []approval.Prompt
}

func answers(choices ...approval.Choice) *script {
	s := &script{}
	for _, c := range choices {
		s.answers = append(s.answers, approval.Answer{Choice: c})
	}
	return s
}

func (s *script) Ask(_ context.Context, p approval.Prompt) (approval.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompts = append(s.prompts, p)
	if len(s.answers) == 0 {
		return approval.Answer{}, approval.ErrNoOperator
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	return a, nil
}

func (s *script) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.prompts)
}

func builtinTool(name string) *tool.Definition {
	return &tool.Definition{Name: name, ID: name, Key: tool.Key{Kind: tool.OwnerBuiltin, Owner: tool.SourceBuiltin, ID: name}}
}

func pluginTool(plugin, name string) *tool.Definition {
	return &tool.Definition{Name: name, ID: name, Key: tool.Key{Kind: tool.OwnerPlugin, Owner: plugin, ID: name}}
}

func class(r tool.Risk, a tool.Authority) tool.Classification {
	return tool.Classification{Risk: r, Authority: a, Summary: "does something"}
}

func bashCall(mode, command string, k tool.Classification) dispatch.Call {
	k.Fingerprint = command
	arguments, _ := json.Marshal(map[string]string{"command": command})
	return dispatch.Call{
		Thread: "t1", ID: "c1", Definition: builtinTool("bash"), Arguments: arguments, Classification: k,
		Mode: "work", Approval: mode, Workspace: "/ws",
	}
}

func decide(t *testing.T, s *approval.Stage, c dispatch.Call) dispatch.Verdict {
	t.Helper()
	v, err := s.Approve(context.Background(), c)
	require.NoError(t, err)
	return v
}
