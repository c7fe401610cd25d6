package crystalcmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/internal/terminal"
)

func (p *program) pointsCommand() *cobra.Command {
	var format formatOptions
	verb := func(use, short string, args cobra.PositionalArgs, run func(ctx context.Context, f terminal.Format, args []string) error) *cobra.Command {
		c := &cobra.Command{
			Use: use, Short: short, Args: args,
			RunE: func(c *cobra.Command, args []string) error {
				f, err := format.parse()
				if err != nil {
					return err
				}
				return run(c.Context(), f, args)
			},
		}
		format.add(c.Flags())
		return c
	}
	var thread string
	show := verb("show <point>", "Show a point with its contributions", cobra.ExactArgs(1),
		func(ctx context.Context, f terminal.Format, args []string) error {
			return p.showPoint(ctx, f, args[0], thread)
		})
	show.Flags().StringVar(&thread, "thread", "", "include what is contributed to this thread")
	list := verb("list", "List the contribution points", cobra.NoArgs,
		func(ctx context.Context, f terminal.Format, _ []string) error { return p.listPoints(ctx, f) })
	all := group("points", "List the contribution points and what is contributed to them", list, show)
	all.RunE = list.RunE
	format.add(all.Flags())
	return all
}

// withHost runs fn on a host that is started and stopped around it: the one that a headless run would get. It obeys trust.
func (p *program) withHost(ctx context.Context, fn func(pl *place, h *host) error) (err error) {
	pl, err := p.open()
	if err != nil {
		return err
	}
	h, err := p.start(ctx, blueprint{place: pl, config: pl.settings.Config, client: clientRun})
	if err != nil {
		return err
	}
	defer h.release()
	p.notes(h.notes)
	if err := fn(pl, h); err != nil {
		return joinStop(err, h.stop(ctx))
	}
	return h.stop(ctx)
}

// joinStop keeps the error that came first as the message.
func joinStop(first, stop error) error {
	if stop == nil {
		return first
	}
	return fmt.Errorf("%w; and stopping the host: %w", first, stop)
}

func (p *program) listPoints(ctx context.Context, f terminal.Format) error {
	return p.withHost(ctx, func(_ *place, h *host) error {
		l := terminal.Listing{Columns: []string{
			"Point", "Tiers", "Evaluated", "On failure", "Contributions", "Scopes", "Deadline", "Contract", "Targets",
		}}
		v := h.registry.View()
		for _, point := range h.registry.Points() {
			infos := point.Infos(v, "")
			r := listedPoint{newPointFacts(point.Info(), infos), len(infos)}
			l.Records = append(l.Records, r)
			l.Rows = append(l.Rows, []string{
				r.Point, r.Tiers, r.Evaluated, r.OnFailure, strconv.Itoa(r.Contributions), r.Scopes, text(r.Deadline), r.Contract, targetsCell(r.Targets),
			})
		}
		return l.Print(p.out(), f)
	})
}

// targetsCell counts the targets of a point and names those that are not the host's own now.
func targetsCell(targets []targetRecord) string {
	if len(targets) == 0 {
		return ""
	}
	var others []string
	for _, t := range targets {
		if by := text(t.HeldBy); by != "" && by != contrib.Builtin().String() {
			others = append(others, t.Name+" by "+by)
		}
	}
	cell := strconv.Itoa(len(targets))
	if len(others) > 0 {
		cell += ": " + list(others)
	}
	return cell
}

// entryRecord is one contribution as a line of JSON.
type entryRecord struct {
	Origin     string  `json:"origin"`
	Label      *string `json:"label"`
	Order      int     `json:"order"`
	Target     *string `json:"target"`
	Replaces   *string `json:"replaces"`
	Scope      string  `json:"scope"`
	ShadowedBy *string `json:"shadowedBy"`
	Held       bool    `json:"held"`
}

type targetRecord struct {
	Name     string  `json:"name"`
	Order    int     `json:"order"`
	Guarding bool    `json:"guarding"`
	HeldBy   *string `json:"heldBy"` // owner of the entry that stands there now; unknown for a family of names
	Doc      string  `json:"doc"`
}

// pointFacts is what a point declares, and who holds its targets.
type pointFacts struct {
	Point     string         `json:"point"`
	Tiers     string         `json:"tiers"`
	Evaluated string         `json:"evaluated"`
	OnFailure string         `json:"onFailure"`
	Scopes    string         `json:"scopes"`
	Deadline  *string        `json:"deadline"`
	Contract  string         `json:"contract"`
	Targets   []targetRecord `json:"targets"`
	Doc       string         `json:"doc"`
}

// listedPoint is one point of the listing as a line of JSON.
type listedPoint struct {
	pointFacts
	Contributions int `json:"contributions"`
}

// pointRecord is one point with its contributions as a line of JSON.
type pointRecord struct {
	pointFacts
	Contributions []entryRecord `json:"contributions"`
}

func (p *program) showPoint(ctx context.Context, f terminal.Format, name, thread string) error {
	return p.withHost(ctx, func(_ *place, h *host) error {
		var names []string
		for _, point := range h.registry.Points() {
			if point.Name() == name {
				return p.printPoint(f, newPointRecord(point, h.registry.View(), contrib.ThreadID(thread)))
			}
			names = append(names, point.Name())
		}
		return fmt.Errorf("there is no point %q; %s", name, meant(name, names))
	})
}

func newPointFacts(i contrib.PointInfo, entries []contrib.EntryInfo) pointFacts {
	r := pointFacts{
		Point: i.Name, Doc: i.Doc, Contract: i.Contract, Tiers: i.Tiers.String(), Scopes: i.Scopes.String(),
		Evaluated: i.Evaluation.String(), OnFailure: i.Failure.String(), Targets: []targetRecord{},
	}
	if i.Deadline > 0 {
		r.Deadline = orNull(i.Deadline.String())
	}
	for _, t := range i.Targets {
		r.Targets = append(r.Targets, targetRecord{t.Name, t.Order, t.Guarding, orNull(holder(entries, t.Name)), t.Doc})
	}
	return r
}

// holder is the owner of the effective entry at a target; a target whose plugin was lost is held for that plugin.
func holder(entries []contrib.EntryInfo, target string) string {
	for i := range entries {
		e := &entries[i]
		switch {
		case e.ShadowedBy != 0 || !e.Occupies(target):
		case e.Held:
			return "closed: " + e.Origin.String() + " is lost"
		default:
			return e.Origin.String()
		}
	}
	return ""
}

func newPointRecord(point contrib.AnyPoint, v *contrib.View, thread contrib.ThreadID) pointRecord {
	entries := point.Infos(v, thread)
	r := pointRecord{newPointFacts(point.Info(), entries), []entryRecord{}}
	byID := make(map[uint64]contrib.EntryInfo, len(entries))
	for _, e := range entries {
		byID[e.ID] = e
	}
	for _, e := range entries {
		shadow := ""
		if e.ShadowedBy != 0 {
			by := byID[e.ShadowedBy]
			shadow = fmt.Sprintf("contribution:%d", e.ShadowedBy)
			if by.ID != 0 {
				shadow = by.Origin.String() + " (" + shadow + ")"
			}
		}
		r.Contributions = append(r.Contributions, entryRecord{
			e.Origin.String(), orNull(e.Label), e.Order, orNull(e.Name), orNull(e.Replaces), scopeOf(string(e.Thread)), orNull(shadow), e.Held,
		})
	}
	return r
}

func (p *program) printPoint(f terminal.Format, r pointRecord) error {
	out := p.out()
	if f == terminal.JSON {
		return terminal.PrintJSON(out, r)
	}
	err := terminal.PrintPairs(out, terminal.Pair{Label: "Point", Value: r.Point}, terminal.Pair{Label: "Documentation", Value: r.Doc},
		terminal.Pair{Label: "Contract", Value: r.Contract}, terminal.Pair{Label: "Tiers", Value: r.Tiers},
		terminal.Pair{Label: "Scopes", Value: r.Scopes}, terminal.Pair{Label: "Evaluated", Value: r.Evaluated},
		terminal.Pair{Label: "On failure", Value: r.OnFailure}, terminal.Pair{Label: "Deadline", Value: text(r.Deadline)})
	if err != nil {
		return err
	}
	if len(r.Targets) > 0 {
		l := terminal.Listing{Columns: []string{"Target", "Order", "Held by", "Guarding", "Documentation"}}
		for _, t := range r.Targets {
			l.Rows = append(l.Rows, []string{t.Name, strconv.Itoa(t.Order), text(t.HeldBy), terminal.Yes(t.Guarding), t.Doc})
		}
		if _, err := fmt.Fprintln(out.W); err != nil {
			return err
		}
		if err := l.Print(out, f); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(out.W); err != nil {
		return err
	}
	l := terminal.Listing{
		Columns: []string{"Origin", "Label", "Order", "Target", "Scope", "Shadowed by"}, Empty: "There are no contributions.",
	}
	for _, e := range r.Contributions {
		target := text(e.Target)
		if e.Replaces != nil {
			target = strings.TrimSpace(target + " replaces " + *e.Replaces)
		}
		l.Rows = append(l.Rows, []string{e.Origin, text(e.Label), strconv.Itoa(e.Order), target, e.Scope, text(e.ShadowedBy)})
	}
	return l.Print(out, f)
}

// text is the value of a text that may be unknown.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
