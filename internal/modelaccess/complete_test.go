package modelaccess_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/modelaccess"
	"github.com/crystalkernel/crystal/points/model"
)

func TestQuestionsOfTheHost(t *testing.T) {
	h := start(t)
	_, err := h.access.Complete(t.Context(), "s", "u")
	require.ErrorIs(t, err, model.ErrNoSession)
	h.open("large")
	text, err := h.access.Complete(t.Context(), "be brief", "hi")
	require.NoError(t, err)
	assert.Equal(t, "ok from large", text)
	assert.Equal(t, "be brief", h.lab.last().System)
	assert.Equal(t, "hi", h.lab.last().Items[0].Text)
	assert.Empty(t, h.lab.last().Tools)

	answers := func(d ...model.Delta) {
		h.lab.answer = func(context.Context, *model.Request, func(model.Delta) error) (*model.Response, error) {
			var a model.Assembler
			for _, one := range d {
				if err := a.Add(one); err != nil {
					return nil, err
				}
			}
			return a.Response()
		}
	}
	answers(model.Delta{Kind: model.TextDelta, Text: " \n"}, model.Delta{Kind: model.FinishDelta})
	_, err = h.access.Complete(t.Context(), "", "hi")
	require.ErrorIs(t, err, modelaccess.ErrNoAnswer)
	answers(model.Delta{Kind: model.TextDelta, Text: "half"}, model.Delta{Kind: model.FinishDelta, Finish: model.FinishLength})
	_, err = h.access.Complete(t.Context(), "", "hi")
	require.ErrorIs(t, err, modelaccess.ErrCutAnswer)
}

func TestQuestionsAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t)
		h.open("large")
		attempts := 0
		h.lab.answer = func(context.Context, *model.Request, func(model.Delta) error) (*model.Response, error) {
			if attempts++; attempts < 3 {
				return nil, &model.Error{Code: model.CodeHTTP, Status: 503, Retryable: true}
			}
			return nil, errors.New("for good")
		}
		_, err := h.access.Complete(t.Context(), "", "hi")
		require.ErrorContains(t, err, "for good")
		assert.Equal(t, 3, attempts)
	})
}
