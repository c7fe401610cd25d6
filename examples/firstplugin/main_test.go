package main

func Example() {
	main()
	// Output:
	// turn 1: Greet Ada with the tool greet.
	//   prompt: banner true, own style true, built-in style false
	//   greet: Hello, Ada!
	//   prompt: banner true, own style true, built-in style false
	// -- disabled acme.greeter and acme.tone --
	//   greet: Error tool_unavailable: The tool is not available.
	//   prompt: banner true, own style true, built-in style false
	//   That is all. (completed)
	// turn 2: again
	//   prompt: banner true, own style false, built-in style true
	//   That is all. (completed)
}
