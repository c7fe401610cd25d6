package kernel_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel"
)

func TestEveryEventHasAJSONForm(t *testing.T) {
	for _, e := range []kernel.Event{
		kernel.TurnStarted{},
		kernel.RoundStarted{},
		kernel.TextDelta{},
		kernel.ReasoningDelta{},
		kernel.CallDelta{},
		kernel.Retrying{},
		kernel.RoundCommitted{},
		kernel.CallPending{},
		kernel.ApprovalAsked{},
		kernel.ApprovalAnswered{},
		kernel.CallStarted{},
		kernel.CallProgress{},
		kernel.CallEnded{},
		kernel.Noted{},
		kernel.Compacted{},
		kernel.Failure{},
		kernel.TurnEnded{},
	} {
		data, err := kernel.MarshalEvent(e)
		require.NoError(t, err)
		var head struct{ Type string }
		require.NoError(t, json.Unmarshal(data, &head))
		assert.Equal(t, e.Type(), head.Type)
		assert.True(t, strings.HasPrefix(string(data), `{"type":"`+e.Type()+`"`))
	}
}
