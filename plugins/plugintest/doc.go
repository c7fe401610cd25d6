// Package plugintest is the conformance kit for plugins: it runs a plugin in a runtime of its own, switches it on and off
// twice, and reports every rule that the plugin breaks.
//
//	func TestConformance(t *testing.T) {
//		plugintest.Run(t, reviewcore.Plugin, plugintest.Setup{
//			Points:    points.Catalog(),
//			Providers: []plugins.Plugin{reviewbase.Plugin},
//		})
//	}
//
// The rules are data: [Checks] lists them with what each is for and how to keep it, and [Markdown] prints that list as a
// page of documentation. The kit calls no contribution; what a contribution does is for the plugin's own tests.
package plugintest
