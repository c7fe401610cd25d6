package crystalcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/internal/home"
	"github.com/crystalkernel/crystal/internal/terminal"
	"github.com/crystalkernel/crystal/points/model"
)

func (p *program) doctorCommand() *cobra.Command {
	var wanted home.Wanted
	c := &cobra.Command{
		Use: "doctor", Short: "Check that a model can be reached: one short request is sent", Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return p.doctor(c.Context(), wanted) },
	}
	c.Flags().StringVarP(&wanted.Model, "model", "m", "", "provider/model, or a model of --provider")
	c.Flags().StringVar(&wanted.Provider, "provider", "", "provider")
	return c
}

// doctorTime bounds the request of the doctor.
const doctorTime = 2 * time.Minute

// doctor checks the way to a model, one step after the other, and stops at the first that fails.
func (p *program) doctor(ctx context.Context, wanted home.Wanted) error {
	return p.withHost(ctx, func(pl *place, h *host) error {
		check := func(what, found string) { fmt.Fprintf(p.stdout, "%-10s %s\n", what, terminal.Line(found, lineWidth)) }
		choice, err := pl.settings.Choose(wanted, home.Wanted{})
		if err != nil {
			return err
		}
		check("model", choice.Provider.Name+"/"+choice.Model+", protocol "+choice.Provider.Protocol)
		key, err := pl.settings.Key(choice.Provider)
		if err != nil {
			return err
		}
		switch {
		case key.Known():
			check("key", key.Source())
		default:
			check("key", "none, and none is needed")
		}
		r, err := clientRequest(pl, choice)
		if err != nil {
			return err
		}
		client, err := h.client(ctx, r)
		if err != nil {
			return err
		}
		where := r.BaseURL
		if where == "" {
			where = "the protocol's own"
		}
		check("endpoint", where)
		return ask(ctx, client, r, check)
	})
}

const lineWidth = 400

// client makes the client of a model.
func (h *host) client(ctx context.Context, r model.ClientRequest) (model.Client, error) {
	for _, f := range model.Protocols.In(h.registry.View(), "") {
		if f.CanCreate(r.Protocol) {
			return f.Create(ctx, r)
		}
	}
	return nil, fmt.Errorf("provider %q: unknown protocol %q; this host has %s", r.Provider, r.Protocol, list(model.BuiltinProtocols))
}

// ask sends one short request and says how the answer came.
func ask(ctx context.Context, client model.Client, r model.ClientRequest, check func(what, found string)) error {
	ctx, cancel := context.WithTimeout(ctx, doctorTime)
	defer cancel()
	began := time.Now()
	var first time.Duration
	pieces := 0
	response, err := client.Round(ctx, &model.Request{
		Purpose: model.Side, Model: r.Model, System: "Answer with one word.",
		Items: []*model.Item{{ID: "i1", Kind: model.Message, Role: model.User, Text: "Say: ready"}},
	}, func(d model.Delta) error {
		if d.Kind == model.TextDelta || d.Kind == model.ReasoningDelta {
			if pieces++; pieces == 1 {
				first = time.Since(began)
			}
		}
		return nil
	})
	var failure *model.Error
	if errors.As(err, &failure) {
		return fmt.Errorf("the request failed: %w", failure)
	}
	if err != nil {
		return fmt.Errorf("the request failed: %w", err)
	}
	check("answer", fmt.Sprintf("first piece after %s, %d pieces, done after %s, finish %s",
		first.Round(time.Millisecond), pieces, time.Since(began).Round(time.Millisecond), response.Finish))
	check("streaming", map[bool]string{true: "works", false: "the answer came in one piece"}[pieces > 1])
	return nil
}
