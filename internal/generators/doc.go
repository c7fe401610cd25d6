// Package generators holds the built-in generators: a commit message from the model of the session, and suggestions for a
// welcome from a look at the workspace.
//
// [Module] contributes both under their targets. Who wants an answer asks through generator.CurrentCommitMessage and
// generator.CurrentWelcome, which see replacements.
package generators
