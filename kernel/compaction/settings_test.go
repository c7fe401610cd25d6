package compaction_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/crystalkernel/crystal/kernel/compaction"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/points/model"
)

func TestLimit(t *testing.T) { // THREAD-1
	for _, c := range []struct {
		s    compaction.Settings
		want int
	}{
		{compaction.Settings{Window: 100000, Threshold: 0.8}, 80000},
		{compaction.Settings{Window: 30000, Threshold: 0.8}, 10000},
		{compaction.Settings{Window: 16000, Threshold: 0.8}, 12800},
		{compaction.Settings{Window: 20000, Threshold: 0.8}, 16000},
		{compaction.Settings{Window: 100000}, 80000},
		{compaction.Settings{Window: 100, Threshold: 0.29, MaxTokens: 1}, 29},
		{compaction.Settings{Window: 100000, Threshold: 1, MaxTokens: 4000}, 96000},
		{compaction.Settings{Window: 100000, Threshold: 1, MaxTokens: 90000}, 80000},
	} {
		assert.Equal(t, c.want, c.s.Limit(), "%+v", c.s)
	}
}

func TestFits(t *testing.T) {
	s := compaction.Settings{Window: 10000}
	assert.True(t, s.Fits(10000-4096))
	assert.False(t, s.Fits(10000-4095))
	s.MaxTokens = 1000
	assert.True(t, s.Fits(9000))
	assert.False(t, s.Fits(9001))
	assert.True(t, compaction.Settings{}.Fits(1<<40), "an unknown window holds anything")
}

func TestDue(t *testing.T) {
	s := compaction.Settings{Window: 100000, Threshold: 0.8}
	assert.False(t, compaction.Due(s, compaction.Load{System: 1, Tools: 1, Items: 79997}))
	assert.True(t, compaction.Due(s, compaction.Load{System: 1, Tools: 1, Items: 79998}))
	assert.True(t, compaction.Due(s, compaction.Load{Reported: 80000}))
	assert.False(t, compaction.Due(compaction.Settings{}, compaction.Load{Items: 1 << 40}))
	s.Disabled = true
	assert.False(t, compaction.Due(s, compaction.Load{Items: 1 << 40}))
}

func TestGrowthWithoutUsageIsSeen(t *testing.T) { // FIELD-R3
	s := compaction.Settings{Window: 100000, Threshold: 0.8}
	var m estimate.Meter
	m.Answer("m", &model.Usage{Input: 69000, Output: 1000}, nil)
	due := func() bool {
		total, ok := m.Total("m")
		assert.True(t, ok)
		return compaction.Due(s, compaction.Load{Items: 1000, Reported: total})
	}
	assert.False(t, due())
	m.Add(estimate.Text(tokens(6000, "")))
	m.Answer("m", nil, nil)
	assert.False(t, due(), "at 76,000")
	m.Add(estimate.Text(tokens(6000, "")))
	m.Answer("m", nil, nil)
	assert.True(t, due(), "at 82,000")
}

func TestBrake(t *testing.T) {
	var b compaction.Brake
	assert.True(t, b.Allows())
	b.Ran(compaction.Outcome{Result: compaction.Applied})
	assert.False(t, b.Allows(), "one in each round")
	b.Round()
	assert.True(t, b.Allows())
	b.Ran(compaction.Outcome{Failure: assert.AnError})
	b.Round()
	assert.False(t, b.Allows(), "none after a failed one")
}
