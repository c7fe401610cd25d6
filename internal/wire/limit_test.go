package wire_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/wire/wiretest"
	"github.com/crystalkernel/crystal/points/model"
)

// paced gives one piece after each pause.
type paced struct {
	pause  time.Duration
	pieces []string
}

func (p *paced) Read(b []byte) (int, error) {
	if len(p.pieces) == 0 {
		return 0, io.EOF
	}
	<-time.After(p.pause)
	n := copy(b, p.pieces[0])
	p.pieces = p.pieces[1:]
	return n, nil
}

const limit = 10 * time.Second

func idle(r *model.ClientRequest) { r.IdleTimeout, r.RequestTimeout = limit, 3*limit }

func TestWhatResetsTheIdleLimit(t *testing.T) { // FIELD-P18
	t.Run("every byte does", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, "")
			a.Body = &paced{limit * 9 / 10, []string{": one\n", ": two\n", ": three\n", whole}}
			begun := time.Now()
			response, _, err := wiretest.Round(t, client(t, answering(a), idle), wiretest.Request())
			require.NoError(t, err)
			assert.Equal(t, "ready", wiretest.Reply(response))
			assert.Equal(t, 4*limit*9/10, time.Since(begun))
		})
	})
	t.Run("silence after the headers", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, "")
			a.Hold = true
			begun := time.Now()
			_, _, err := wiretest.Round(t, client(t, answering(a), idle), wiretest.Request())
			e := failure(t, err)
			assert.Equal(t, limit, time.Since(begun))
			assert.Equal(t, model.KindIncomplete, e.Kind)
			assert.Equal(t, model.CodeTimeout, e.Code)
			assert.True(t, e.Retryable)
		})
	})
	t.Run("silence inside the answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, `data: {"choices":[{"delta":{"content":"so far"}}]}`+"\n\n")
			a.Hold = true
			_, deltas, err := wiretest.Round(t, client(t, answering(a), idle), wiretest.Request())
			assert.Equal(t, model.KindIncomplete, failure(t, err).Kind)
			assert.Equal(t, "so far", deltas[0].Text)
		})
	})
	t.Run("a whole answer, then nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, whole)
			a.Hold = true
			begun := time.Now()
			_, _, err := wiretest.Round(t, client(t, answering(a), idle), wiretest.Request())
			require.NoError(t, err)
			assert.Zero(t, time.Since(begun))
		})
	})
	t.Run("a whole answer without its end mark", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, strings.ReplaceAll(whole, "data: [DONE]\n\n", ": still here\n"))
			a.Hold = true
			begun := time.Now()
			response, _, err := wiretest.Round(t, client(t, answering(a), idle), wiretest.Request())
			require.NoError(t, err)
			assert.Equal(t, "ready", wiretest.Reply(response))
			assert.Equal(t, 2*time.Second, time.Since(begun))
		})
	})
	t.Run("trailing comments do not extend the end", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, "")
			head := strings.ReplaceAll(whole, "data: [DONE]\n\n", "")
			pieces := append([]string{head}, strings.Split(strings.Repeat(": ping\n|", 50), "|")...)
			a.Body = &paced{300 * time.Millisecond, pieces}
			begun := time.Now()
			_, _, err := wiretest.Round(t, client(t, answering(a), idle), wiretest.Request())
			require.NoError(t, err)
			assert.LessOrEqual(t, time.Since(begun), 3*time.Second)
		})
	})
	t.Run("no limit", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := wiretest.Text(200, events, "")
			a.Body = &paced{1000 * time.Hour, []string{whole}}
			_, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
			require.NoError(t, err)
		})
	})
}

func TestHeadersThatDoNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, _, err := wiretest.Round(t, client(t, answering(wiretest.Answer{Silent: true}), idle), wiretest.Request())
		e := failure(t, err)
		assert.Equal(t, 3*limit, time.Since(begun))
		assert.Equal(t, model.CodeTimeout, e.Code)
		assert.Equal(t, model.KindNetwork, e.Kind)
		assert.True(t, e.Retryable)
	})
}

func TestCancellingEndsARoundAtOnce(t *testing.T) { // FIELD-H4
	stop := errors.New("the operator stopped it")
	for name, a := range map[string]wiretest.Answer{
		"before the headers": {Silent: true},
		"inside the answer":  wiretest.Text(200, events, `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"write","arguments":"{"}}]}}]}`+"\n\n"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := a
				a.Hold = true
				ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, stop)
				defer cancel()
				begun := time.Now()
				_, err := client(t, answering(a), idle).Round(ctx, wiretest.Request(), func(model.Delta) error { return nil })
				require.ErrorIs(t, err, stop)
				_, ours := errors.AsType[*model.Error](err)
				assert.False(t, ours, "a cancellation is no failure of the provider")
				assert.Equal(t, time.Second, time.Since(begun))
			})
		})
	}
}

func TestAnErrorOfTheConsumerEndsTheRound(t *testing.T) {
	full := errors.New("full")
	n := 0
	_, err := client(t, answering(wiretest.Text(200, events, whole))).Round(t.Context(), wiretest.Request(), func(model.Delta) error {
		n++
		return full
	})
	assert.Equal(t, full, err)
	assert.Equal(t, 1, n)
}

// endless repeats a byte for ever.
type endless struct {
	begin string
	total int
}

func (e *endless) Read(b []byte) (int, error) {
	n := copy(b, e.begin)
	e.begin = e.begin[n:]
	for i := n; i < len(b); i++ {
		b[i] = 'a'
	}
	e.total += len(b)
	return len(b), nil
}

func TestAFrameWithoutAnEnd(t *testing.T) { // FIELD-J7
	a := wiretest.Text(200, events, "")
	body := &endless{begin: "data: "}
	a.Body = body
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
	runtime.ReadMemStats(&after)
	e := failure(t, err)
	assert.Equal(t, model.CodeStreamInvalid, e.Code)
	assert.False(t, e.Retryable)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20))
	assert.Less(t, body.total, 18<<20)
}

func TestALargeDelta(t *testing.T) { // FIELD-P23
	text := strings.Repeat("A", 3<<20)
	body := `data: {"choices":[{"delta":{"content":"` + text + `"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	response, _, err := wiretest.Round(t, client(t, answering(wiretest.Text(200, events, body))), wiretest.Request())
	require.NoError(t, err)
	assert.Len(t, wiretest.Reply(response), 3_145_728)
}

func TestAnAnswerWithoutAnEnd(t *testing.T) {
	line := `data: {"choices":[{"delta":{"content":"` + strings.Repeat("A", 8<<20) + `"}}]}` + "\n\n"
	readers := make([]io.Reader, 10)
	for i := range readers {
		readers[i] = strings.NewReader(line)
	}
	a := wiretest.Text(200, events, "")
	a.Body = io.MultiReader(readers...)
	_, _, err := wiretest.Round(t, client(t, answering(a)), wiretest.Request())
	e := failure(t, err)
	assert.Equal(t, model.CodeStreamInvalid, e.Code)
	assert.Contains(t, e.Message, "64 MiB")
	assert.False(t, e.Retryable)
}
