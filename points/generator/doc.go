// Package generator holds the contracts of small generators beside the turn: commit messages and the suggestions of a
// welcome. Each has one built-in target; the last entry of the list has authority and is found again for each request.
package generator
