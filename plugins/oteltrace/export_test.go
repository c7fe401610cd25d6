package oteltrace

// LocalURL is where spans go when the environment names no collector.
var LocalURL = localURL
