package command_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/command"
)

func add(t *testing.T, s command.Spec) (command.Meta, error) {
	t.Helper()
	r, err := contrib.New(command.Prompts)
	require.NoError(t, err)
	_, err = command.Prompts.Add(r.Builtin(), command.PromptFunc(s, func(context.Context, command.Invocation) (string, bool, error) {
		return "", false, nil
	}))
	if err != nil {
		return command.Meta{}, err
	}
	return command.Prompts.Entries(r.View(), "")[0].Meta.(command.Meta), nil
}

func TestNamesAreReadOnceWithoutSlashAndCase(t *testing.T) {
	m, err := add(t, command.Spec{
		Name: " /Tri-Age_1 ", Aliases: []string{"/T", "t", "tri-age_1", " ", "/"}, Description: " Sorts. ",
	})
	require.NoError(t, err)
	assert.Equal(t, command.Meta{Name: "tri-age_1", Aliases: []string{"t"}, Description: "Sorts."}, m)
}

func TestIllegalNamesAreRefused(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, name := range []string{"", "/", "9a", "a b", "a:b", "a.b", "é", long, "a\n"} {
		if name != "a\n" { // white space around a name is no part of it
			_, err := add(t, command.Spec{Name: name})
			require.ErrorIs(t, err, contrib.ErrInvalidContribution, "name %q", name)
		}
		_, err := add(t, command.Spec{Name: "fine", Aliases: []string{name}})
		if name == "" || name == "/" || name == "a\n" {
			require.NoError(t, err, "alias %q", name)
			continue
		}
		require.ErrorIs(t, err, contrib.ErrInvalidContribution, "alias %q", name)
	}
	_, err := add(t, command.Spec{Name: long[:64]})
	require.NoError(t, err)
}
