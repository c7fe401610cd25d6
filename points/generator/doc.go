// Package generator holds the contracts of small generators beside the turn: commit messages and the suggestions of a
// welcome. Each has one built-in target; the last entry of the list has authority. Holders ask [CurrentCommitMessage] and
// [CurrentWelcome], which find it again for each request.
package generator
