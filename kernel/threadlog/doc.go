// Package threadlog keeps threads: each is one append-only log of records, and the items of the next model request are
// what its records say.
package threadlog
