// Package rawhook holds the raw hooks: like those of package hook, without their restrictions. A raw hook may rebuild the
// items of a request, and replace the prompt, a compaction text or a classification; the host refuses only what it cannot
// represent, and names every plugin that registers one. Raw model hooks run before all ordinary ones.
//
//	contrib.Supply(rawhook.RewritePrompts, rawhook.RewritePromptFunc(
//		func(ctx context.Context, i hook.PromptInfo, composed string) (*string, error) {
//			text := strings.ReplaceAll(composed, "colour", "color")
//			return &text, nil
//		}))
package rawhook
