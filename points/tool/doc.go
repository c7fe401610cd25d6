// Package tool holds the contracts around tools: what a source offers, what a call comes to, who may narrow or judge it.
//
// A [Source] gives registrations. Each joins a [Definition], which says what the tool is, to a [Binding], which runs it:
//
//	source := tool.SourceFunc("notes", func(ctx context.Context, p tool.Planning) ([]tool.Registration, error) {
//		return []tool.Registration{{
//			Definition: tool.Definition{
//				ID: "count", Name: "count_notes", Description: "Counts the notes.",
//				InputSchema: json.RawMessage(`{"type":"object"}`),
//				Catalogs:    tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
//			},
//			Binding: tool.Binding{Runtime: tool.RuntimeFunc(
//				func(ctx context.Context, i tool.Invocation) (tool.Result, error) { return tool.Text("3"), nil },
//			)},
//		}}, nil
//	})
//
// A plugin contributes it to [Sources]. The host asks every source when a turn starts and freezes what it is given; the
// source of a plugin is asked again at each call, so that nothing of the plugin is held in between.
//
// A [Restriction] shapes what a model sees of the tools, a [Classifier] judges what a call may do. Neither protects: what
// must not happen is refused by a policy, see package dispatch.
//
// The guards of these points keep plugin and host apart: only JSON, text and image bytes cross, as copies.
package tool
