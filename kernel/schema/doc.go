// Package schema admits the JSON Schemas of tools and checks arguments against them.
package schema
