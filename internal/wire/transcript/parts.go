package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/points/model"
)

// mark stands before [Image #N] where an image is meant, and not text that somebody typed.
const mark = "\u2063"

// Part is a piece of an item's text, or an image.
type Part struct {
	Text  string
	Image *model.Image // nil: text
}

// Parts appends the text of i, cut after the marker of each image that is sent: text up to and with the marker, the
// image, the rest. Blank pieces are left out. Images are sent only when images allows it and their bytes are there;
// elsewhere the marker is plain text. An image without a marker comes last.
func Parts(dst []Part, i *model.Item, images bool) []Part {
	if !images || len(i.Images) == 0 {
		return appendText(dst, Plain(i.Text))
	}
	text := i.Text
	for from := 0; ; {
		n := strings.Index(text[from:], mark+"[Image #")
		if n < 0 {
			break
		}
		start := from + n + len(mark) + len("[Image #")
		end := strings.IndexByte(text[start:], ']')
		from = start
		if end < 0 {
			break
		}
		number, err := strconv.Atoi(text[start : start+end])
		image := find(i.Images, number)
		if err != nil || image == nil {
			continue
		}
		end += start + 1
		dst = append(appendText(dst, Plain(text[:end])), Part{Image: image})
		text, from = text[end:], 0
	}
	dst = appendText(dst, Plain(text))
	for k := range i.Images {
		if m := &i.Images[k]; len(m.Data) > 0 && !strings.Contains(i.Text, marker(m.Number)) {
			dst = append(dst, Part{Image: m})
		}
	}
	return dst
}

// Plain returns text in which the markers of images are plain text.
func Plain(text string) string { return strings.ReplaceAll(text, mark+"[Image #", "[Image #") }

// Label is the text by which an image is called.
func Label(m *model.Image) string { return "[Image #" + strconv.Itoa(m.Number) + "]" }

func marker(number int) string { return mark + "[Image #" + strconv.Itoa(number) + "]" }

func find(images []model.Image, number int) *model.Image {
	for k := range images {
		if images[k].Number == number && len(images[k].Data) > 0 {
			return &images[k]
		}
	}
	return nil
}

func appendText(dst []Part, text string) []Part {
	if strings.TrimSpace(text) == "" {
		return dst
	}
	return append(dst, Part{Text: text})
}

// HasImage reports whether one of the parts is an image.
func HasImage(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Image != nil })
}
