// Package reviewcore is a plugin that keeps a review queue. Other plugins reach it through the typed service [Queue], and
// the model through the tool review.add.
package reviewcore

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/export"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/tool"
)

// ID is the plugin's id, for those that require it.
const ID = "acme.review-core"

// Queue is the service that the plugin exports. It is safe for use by several goroutines.
type Queue interface {
	// Open returns what waits for a review, oldest first.
	Open() []string
}

// Plugin is the plugin.
var Plugin = plugins.Plugin{
	ID: ID, Version: "1.2.0",
	Module: fx.Options(
		fx.Provide(func() *queue { return &queue{} }),
		contrib.Provide[tool.Source](tool.Sources, addTool),
		export.Provide[Queue](func(q *queue) Queue { return q }),
	),
}

type queue struct {
	mu    sync.Mutex
	texts []string
}

func (q *queue) Open() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.texts)
}

func (q *queue) add(text string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.texts = append(q.texts, text)
}

func addTool(q *queue) tool.Source {
	return tool.Fixed(ID, tool.Registration{
		Definition: tool.Definition{
			ID: "add", Namespace: "review", Name: "add", Description: "Puts a text into the review queue.",
			Catalogs: tool.CatalogWork, Hints: &tool.Hints{},
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(_ context.Context, i tool.Invocation) (tool.Result, error) {
			var arguments struct{ Text string }
			if err := json.Unmarshal(i.Arguments, &arguments); err != nil {
				return tool.Result{}, err
			}
			q.add(arguments.Text)
			return tool.Text("queued"), nil
		})},
	})
}
