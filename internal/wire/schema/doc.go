// Package schema fits the JSON schemas of tools to what a protocol accepts: [Root] for those that refuse alternatives at
// the root, [Dialect] for the subset of OpenAPI that gemini reads. The full schema still checks the call.
package schema
