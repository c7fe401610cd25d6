package main

func Example() {
	main()
	// Output:
	// running read
	// read success
	// Done.
	// read: ok
	//        1	buy milk
	// completed
}
