// Package transcript prepares the items of a request for the wire, as far as it is the same for every protocol: it cuts
// them into blocks of one speaker and checks that every call has its result ([Blocks]), makes call ids, names and
// arguments legal ([CallID], [CallName], [AppendArguments]), and cuts texts at their images ([Parts]).
//
//	for b, err := range transcript.Blocks(r.Items) {
//		if err != nil {
//			return err // a call without a result
//		}
//		appendMessage(b.Role, b.Items)
//	}
//
// It changes no item: a request shares them with the thread.
package transcript
