package tracefile

// OpenSmall is Open for a file of another largest size.
var OpenSmall = open
