package generations_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
)

func TestGenerationIsInvisibleUntilCommitAndAfterStop(t *testing.T) {
	r := registry(t)
	g := activate(t, config(r, add(plain, func(_ context.Context, text string) (string, error) { return "<" + text + ">", nil })))
	e := one(t, r, plain)
	out, err := e.Echo(context.Background(), "a")
	require.NoError(t, err)
	assert.Equal(t, "<a>", out)

	td := stop(g)
	assert.Empty(t, td.Errors())
	assert.Empty(t, plain.In(r.View(), ""))
	_, err = e.Echo(context.Background(), "a")
	assert.ErrorIs(t, err, contrib.ErrUnavailable)
	assert.ErrorIs(t, err, contrib.ErrRevoked)
}
