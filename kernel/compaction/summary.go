package compaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/estimate"
	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// made is a summary, and the place up to which it replaces the items.
type made struct {
	text string
	at   int
}

// summary has the summariser make a summary of the items before at; if it declines, of all items.
func (r *run) summary(ctx context.Context, items []*model.Item, at int) (made, error) {
	m, ok, err := r.ask(ctx, compaction.Partial, items, at)
	if err == nil && !ok {
		m, ok, err = r.ask(ctx, compaction.Full, items, len(items))
	}
	if err == nil && !ok {
		err = errDeclined
	}
	return m, err
}

// ask asks the summariser that has authority. One that is gone by then is asked for once more.
func (r *run) ask(ctx context.Context, scope compaction.Scope, items []*model.Item, at int) (made, bool, error) {
	head := items[:at]
	given, err := r.in.Hooks.items(ctx, head)
	if err != nil {
		return made{}, false, err
	}
	request := r.request(scope, given)
	var s *compaction.Summary
	for again := false; ; again = true {
		entries := r.in.Summarizers()
		if len(entries) == 0 {
			return made{}, false, errNobody
		}
		s, err = entries[len(entries)-1].Value.Summarize(ctx, request)
		if again || !errors.Is(err, contrib.ErrUnavailable) {
			break
		}
	}
	if err != nil || s == nil {
		return made{}, false, err
	}
	if len(s.Keep) > 0 {
		if at, err = keptFrom(head, given, s.Keep); err != nil {
			return made{}, false, err
		}
	}
	return made{text: s.Text, at: at}, true, nil
}

// keptFrom finds where the kept tail begins. It never begins between a call and its result.
func keptFrom(head, given []*model.Item, keep []string) (int, error) {
	if len(keep) > len(given) {
		return 0, errNotKept
	}
	for i, it := range given[len(given)-len(keep):] {
		if it.ID == "" || it.ID != keep[i] {
			return 0, errNotKept
		}
	}
	at := slices.IndexFunc(head, func(it *model.Item) bool { return it.ID == keep[0] })
	if at < 0 {
		return 0, errNotKept
	}
	for cuts := cuttable(head); at > 0 && !cuts[at]; {
		at--
	}
	if at == 0 {
		return 0, errNothing
	}
	return at, nil
}

// request describes what is to be summarised.
func (r *run) request(scope compaction.Scope, items []*model.Item) compaction.Request {
	todos := openTodos(r.in.Log.State().Todos)
	request := compaction.Request{
		Thread: r.in.Thread, Turn: r.in.Turn, Workspace: r.in.Workspace, Provider: r.in.Provider, Model: r.in.Request.Model,
		Scope: scope, Items: items, Hint: r.in.Hint, Limit: r.in.Settings.Limit(),
	}
	if summary := r.in.Log.Summary(); summary != nil {
		request.Prior = summaryBody(summary.Text)
	}
	for _, t := range todos {
		request.Todos = append(request.Todos, compaction.Todo(t))
	}
	request.Local = func(ctx context.Context) (string, error) { return r.local(ctx, items, request.Prior, todos) }
	return request
}

// local asks the thread's model.
func (r *run) local(ctx context.Context, items []*model.Item, prior string, todos []threadlog.Todo) (string, error) {
	system, user, err := r.fitting(ctx, items, prior, todos)
	if err != nil {
		return "", err
	}
	request := r.in.Request
	request.Purpose, request.Thread, request.Turn, request.Agent = model.Compaction, r.in.Thread, r.in.Turn, ""
	request.System, request.Tools, request.AcceptsImages = system, nil, false
	request.Items = []*model.Item{{Kind: model.Message, Role: model.User, Text: user}}
	request.MaxTokens = r.in.Settings.MaxTokens
	response, err := r.in.Client.Round(ctx, &request, func(model.Delta) error { return nil })
	if err != nil {
		return "", err
	}
	usage := response.Usage
	if usage == nil {
		usage = estimate.Usage(estimate.Request(&request), response.Items)
	}
	r.spend(usage)
	if err := r.in.Hooks.response(ctx, response); err != nil {
		return "", err
	}
	switch response.Finish {
	case model.FinishContentFilter, model.FinishContextOverflow, model.FinishOther:
		return "", fmt.Errorf("the model's answer ended with %s", word(response))
	}
	var texts []string
	for _, it := range response.Items {
		if it.Kind == model.Message {
			texts = append(texts, it.Text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

func word(r *model.Response) string {
	if r.Raw != "" {
		return r.Raw
	}
	return string(r.Finish)
}

// fitting makes the prompt of the summary request, without its oldest turns if it would not fit otherwise.
func (r *run) fitting(ctx context.Context, items []*model.Item, prior string, todos []threadlog.Todo) (system, user string, err error) {
	starts := turns(items)
	for left := 0; left == 0 || left < len(starts); {
		from := 0
		if left > 0 {
			from = starts[left]
		}
		if system, user, err = r.prompt(ctx, items[from:], left, prior, todos); err != nil {
			return "", "", err
		}
		over := estimate.Text(system) + estimate.Text(user) - (r.in.Settings.Window - r.in.Settings.answer())
		if over <= 0 || r.in.Settings.Window <= 0 {
			return system, user, nil
		}
		left = r.leaveOut(items, starts, left, over)
	}
	return "", "", errDoesNotFit
}

// leaveOut says how many of the oldest turns to leave out next: as many as make up for what is too much, so that the hooks
// don't run for each turn, but all of them only when leaving the newest was tried.
func (r *run) leaveOut(items []*model.Item, starts []int, left, over int) int {
	next := left
	for freed := 0; freed < over && next < len(starts)-1; next++ {
		freed += estimate.Text(render(items[starts[next]:starts[next+1]]))
	}
	return max(next, left+1)
}

// prompt makes the texts of a summary request and runs the text hooks.
func (r *run) prompt(ctx context.Context, items []*model.Item, left int, prior string, todos []threadlog.Todo) (system, user string, err error) {
	conversation := render(items)
	if left > 0 {
		conversation = fmt.Sprintf("[The oldest turns do not fit and are left out: %d]\n\n%s", left, conversation)
	}
	parts := newParts(conversation, prior, todos)
	if r.in.Prompt != nil {
		system, user, err = r.in.Prompt(ctx, parts)
	} else {
		system, user = parts.Bind(SystemTemplate), parts.Bind(UserTemplate)
	}
	if err != nil {
		return "", "", err
	}
	if hint := strings.TrimSpace(r.in.Hint); hint != "" {
		user += "\n\nThe user asks you to keep this in mind: " + hint
	}
	user, err = r.in.Hooks.text(ctx, hook.PhasePrompt, user)
	return system, user, err
}
