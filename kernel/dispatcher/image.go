package dispatcher

import "bytes"

// Limits of what a tool may show.
const (
	maxImage   = 20 << 20
	maxImages  = 8
	maxMessage = 10_000 // characters of the message of a failure
)

// imageFault says why the image at a place can't be sent, or "".
func imageFault(mediaType string, data []byte, place int) string {
	starts := func(prefix string) bool { return bytes.HasPrefix(data, []byte(prefix)) }
	match := false
	switch mediaType {
	case "image/png":
		match = starts("\x89PNG\r\n\x1a\n")
	case "image/jpeg":
		match = starts("\xff\xd8\xff")
	case "image/gif":
		match = starts("GIF87a") || starts("GIF89a")
	case "image/webp":
		match = len(data) >= 12 && starts("RIFF") && string(data[8:12]) == "WEBP"
	default:
		return "its type is not png, jpeg, gif or webp"
	}
	switch {
	case place >= maxImages:
		return "a result holds at most 8 images"
	case len(data) > maxImage:
		return "it is over 20 MiB"
	case !match:
		return "its bytes are not of its type"
	}
	return ""
}
