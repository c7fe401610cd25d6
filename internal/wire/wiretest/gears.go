package wiretest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

// What becomes of a gear that is not sent.
const (
	Refused = "refused" // the request is not sent
	Ignored = "ignored" // with a note
	Nothing = "nothing" // without a note
)

// Gears checks what each gear adds to the request that is sent without one. base is that request.
func Gears(t *testing.T, create func(*Server) model.Client, base *model.Request, gears map[string]string) {
	t.Helper()
	plain := string(Sent(t, create, base))
	for gear, want := range gears {
		t.Run("gear "+gear, func(t *testing.T) {
			s := Serve(func(int) Answer { return Text(500, "", "no") })
			r := *base
			r.Gear = gear
			noted := false
			_, err := create(s).Round(t.Context(), &r, func(d model.Delta) error {
				noted = noted || d.Kind == model.NoteDelta && d.Name == model.NoteGearIgnored
				return nil
			})
			failed, ok := errors.AsType[*model.Error](err)
			require.True(t, ok)
			assert.Equal(t, want == Ignored, noted)
			switch want {
			case Refused:
				assert.Equal(t, model.CodeRequestInvalid, failed.Code)
				assert.Empty(t, s.Bodies())
			case Ignored, Nothing:
				assert.Equal(t, plain, string(s.Bodies()[0]))
			default:
				assert.Contains(t, string(s.Bodies()[0]), want)
			}
		})
	}
}
