// Package host holds the contract by which a contribution learns what else a host has loaded: [Attached] is called with
// an [Environment] once plugins, tool sets and skills are there.
package host
