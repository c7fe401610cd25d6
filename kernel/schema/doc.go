// Package schema admits the JSON Schemas of tools and checks the arguments of calls against them.
//
// [Compile] admits a schema once; a [Schema] then checks as many calls as there are, at about a microsecond each:
//
//	s, err := schema.Compile(json.RawMessage(`{"properties":{"count":{"type":"integer"}},"required":["count"]}`))
//	args, coercions, fault := s.Check(`{"count":"5"}`)
//	// args is {"count":5}; coercions says integerFromString at /count; fault is nil
//
// Drafts 2020-12, 2019-09 and 07 are covered whole. References stay inside of the document: nothing is ever fetched.
// Numbers are compared as they are written, never as floating point. Patterns have the meaning of ECMA-262 with Unicode
// as far as a linear-time engine can run them; others are not admitted.
//
// Arguments are never repaired. The only changes made are coercions that lose nothing, such as "5" where an integer has to
// stand, and each is recorded. Otherwise a [Fault] says what is wrong, with places, in words that a model can act upon.
//
// It is an evaluator of its own and not a wrapper, because one walk has to give the verdict, the places of all faults and
// the coercions, without loss and without making maps of the arguments. Tests hold it against another validator and the
// public test suite.
package schema
