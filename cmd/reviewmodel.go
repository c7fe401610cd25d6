package crystalcmd

import (
	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/modelaccess"
)

// reviewModel is the model that reviews calls instead of the session's; nil when the settings name none or it is switched
// off. Without a provider of its own it is one of the session's provider.
func (b blueprint) reviewModel() (*modelaccess.Review, error) {
	m := b.config.ApprovalModel
	if !m.Enabled || m.Model == "" {
		return nil, nil
	}
	provider := m.Provider
	if provider == "" {
		provider = b.config.Provider
	}
	c, err := b.place.settings.Choose(home.Wanted{Provider: provider, Model: m.Model}, home.Wanted{})
	if err != nil {
		return nil, err
	}
	r, err := clientRequest(b.place, c)
	if err != nil {
		return nil, err
	}
	return &modelaccess.Review{Request: r, Gear: gearOf(m.ThinkingEffort)}, nil
}

// reviewedBy lays what the command line says about that model over the settings; naming it switches it on.
func (o *runOptions) reviewedBy(m *home.ApprovalModel) {
	if o.reviewProvider != "" {
		m.Enabled, m.Provider = true, o.reviewProvider
	}
	if o.reviewModel != "" {
		m.Enabled, m.Model = true, o.reviewModel
	}
}
