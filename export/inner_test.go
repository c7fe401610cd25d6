package export

// Standard is tested against the tool chain.
var Standard = standard
