package main

func Example() {
	main()
	// Output:
	// acme.review-core 1.2.0: active
	// acme.review-ui 0.3.0: active
	// Done.
	// review__add: ok
	//   queued
	// /triage: Sort these reviews by urgency: the parser change
	// acme.review-core 1.2.0: not active
	// acme.review-ui 0.3.0: not active (PluginDependencyUnsatisfied disabled)
	// /triage: nobody answers
	// acme.review-core 1.2.0: active
	// acme.review-ui 0.3.0: active
	// /triage: nobody answers
}
