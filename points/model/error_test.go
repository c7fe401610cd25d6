package model_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

func TestErrorNamesProviderStatusCodeAndMessage(t *testing.T) {
	e := &model.Error{
		Code: model.CodeHTTP, Provider: "acme", Status: 429, ProviderCode: "rate_limit_exceeded", Message: "slow down", Err: io.ErrUnexpectedEOF,
	}
	require.EqualError(t, e, "acme: provider_http 429 rate_limit_exceeded: slow down")
	require.EqualError(t, &model.Error{Code: model.CodeStreamEnded}, "provider_stream_ended")
	assert.ErrorIs(t, e, io.ErrUnexpectedEOF)
}

func TestRetryable(t *testing.T) {
	for name, test := range map[string]struct {
		err  error
		want bool
	}{
		"nothing":                 {nil, false},
		"an error that says yes":  {&model.Error{Retryable: true}, true},
		"wrapped":                 {fmt.Errorf("round 3: %w", &model.Error{Retryable: true}), true},
		"one that says no":        {&model.Error{Message: "try again"}, false},
		"Rate Limit":              {errors.New("Rate Limit reached"), true},
		"a number":                {errors.New("HTTP 529"), true},
		"a number at a dash":      {errors.New("error-502-bad"), true},
		"a number in a word":      {errors.New("e502x 5020"), false},
		"incomplete stream":       {errors.New("an incomplete stream"), true},
		"something else entirely": {errors.New("no such model"), false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, model.Retryable(test.err)) })
	}
}
