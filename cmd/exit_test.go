package crystalcmd

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

func TestExitSaysOneCleanLine(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code int
		text string
	}{
		{"nothing", nil, 0, ""},
		{"an error", errors.New("bad\x1b[31m\nvalue"), 1, "crystal: bad value\n"},
		{"all has been said", &exitError{code: 5}, 5, ""},
		{"a code of its own", &exitError{code: 4, err: errors.New("not trusted")}, 4, "crystal: not trusted\n"},
		{
			"FIELD-T4: a lock that is held", fmt.Errorf("x was not disabled: %w", &jsonc.LockedError{File: "/h/config.json", Lock: "/h/config.json.lock"}), 1,
			"crystal: ConfigLocked: x was not disabled: /h/config.json was not changed: another process has held /h/config.json.lock for 5s; end that process and try again\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			p := program{stderr: &b}
			assert.Equal(t, tt.code, p.exit(tt.err))
			assert.Equal(t, tt.text, b.String())
		})
	}
}

func TestMessageIsBounded(t *testing.T) {
	var b bytes.Buffer
	p := program{stderr: &b}
	p.exit(errors.New(strings.Repeat("x", 10_000)))
	assert.Less(t, b.Len(), 5_000)
}
