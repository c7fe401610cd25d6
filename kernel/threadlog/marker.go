package threadlog

import (
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// markerPrefix tells the place of an image from the same text typed by somebody.
const markerPrefix = "\u2063"

const markerStart = markerPrefix + "[Image #"

// Marker is the text that stands for the image of that number in an item's text.
func Marker(number int) string { return markerStart + strconv.Itoa(number) + "]" }

// PlainMarkers turns the markers of a text into plain text.
func PlainMarkers(text string) string {
	return strings.ReplaceAll(text, markerStart, markerStart[len(markerPrefix):])
}

// ownMarkers turns markers into plain text that stand for no image of the item.
func ownMarkers(text string, images []model.Image) string {
	if !strings.Contains(text, markerStart) {
		return text
	}
	if len(images) == 0 {
		return PlainMarkers(text)
	}
	var b strings.Builder
	for {
		i := strings.Index(text, markerStart)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		if ownMarker(text[i:], images) {
			b.WriteString(markerPrefix)
		}
		b.WriteString(markerStart[len(markerPrefix):])
		text = text[i+len(markerStart):]
	}
}

func ownMarker(text string, images []model.Image) bool {
	for i := range images {
		if strings.HasPrefix(text, Marker(images[i].Number)) {
			return true
		}
	}
	return false
}
