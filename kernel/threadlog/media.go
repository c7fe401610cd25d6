package threadlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/crystalkernel/crystal/points/model"
)

// MaxImage is the size of the largest image, in bytes.
const MaxImage = 20 << 20

// media keeps image bytes by their content. Calls may overlap.
type media interface {
	put(sha256 string, data []byte) error
	get(sha256 string) ([]byte, error)
}

// CheckImage fails with [ErrImage] unless data is an image of that media type that a thread takes.
func CheckImage(mediaType string, data []byte) error {
	if len(data) > MaxImage {
		return fmt.Errorf("%w: %d bytes, more than %d", ErrImage, len(data), MaxImage)
	}
	var ok bool
	switch mediaType {
	case "image/png":
		ok = bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n"))
	case "image/jpeg":
		ok = bytes.HasPrefix(data, []byte("\xff\xd8\xff"))
	case "image/gif":
		ok = bytes.HasPrefix(data, []byte("GIF87a")) || bytes.HasPrefix(data, []byte("GIF89a"))
	case "image/webp":
		ok = len(data) >= 12 && bytes.HasPrefix(data, []byte("RIFF")) && bytes.Equal(data[8:12], []byte("WEBP"))
	default:
		return fmt.Errorf("%w: media type %q; use image/png, image/jpeg, image/gif or image/webp", ErrImage, mediaType)
	}
	if !ok {
		return fmt.Errorf("%w: the bytes are not %s", ErrImage, mediaType)
	}
	return nil
}

// AddImage stores the bytes of an image and gives it its number in the thread. It fails with [ErrImage] when the media
// type is not accepted, the bytes are of another type, or there are more than 20 MiB of them.
func (l *Log) AddImage(mediaType string, data []byte) (model.Image, error) {
	if err := CheckImage(mediaType, data); err != nil {
		return model.Image{}, err
	}
	sum := sha256.Sum256(data)
	name := hex.EncodeToString(sum[:])
	if err := l.media.put(name, data); err != nil {
		return model.Image{}, fmt.Errorf("thread %s: store an image: %w", l.id, err)
	}
	return model.Image{
		Number: int(l.lastImage.Add(1)), MediaType: mediaType, SHA256: name, Size: len(data),
	}, nil
}

// Load fills in the bytes of the images of user messages and tool results, which a model can be sent. An image whose bytes
// are gone stays without them, with a note. Only items with images are copied, and without any the given slice is returned.
func (l *Log) Load(items []*model.Item) ([]*model.Item, []Note) {
	l.reading.RLock()
	some := l.images
	l.reading.RUnlock()
	if !some {
		return items, nil
	}
	var notes []Note
	return rewrite(items, func(it *model.Item) *model.Item {
		if !carries(it) {
			return it
		}
		own := *it
		own.Images = slices.Clone(it.Images)
		for i := range own.Images {
			img := &own.Images[i]
			data, err := l.media.get(img.SHA256)
			if err != nil {
				notes = append(notes, Note{Code: MediaMissing, Thread: l.id, Message: fmt.Sprintf(
					"the bytes of image %d are gone; its place is sent as text", img.Number)})
				continue
			}
			img.Data = data
		}
		return &own
	}), notes
}

// Sendable returns items as a model is sent them: with accepts, user messages and tool results keep the images whose bytes
// are there; the places of all others become plain text. Only items that lose an image or a marker are copied, and without
// any the given slice is returned.
func Sendable(items []*model.Item, accepts bool) []*model.Item {
	return rewrite(items, func(it *model.Item) *model.Item {
		own := *it
		own.Images = nil
		if accepts && carries(it) {
			own.Images = slices.DeleteFunc(slices.Clone(it.Images), func(img model.Image) bool { return len(img.Data) == 0 })
		}
		own.Text = ownMarkers(it.Text, own.Images)
		if len(own.Images) == len(it.Images) && own.Text == it.Text {
			return it
		}
		return &own
	})
}

// carries reports whether the images of an item can be sent.
func carries(it *model.Item) bool { return it.Kind == model.ToolResult || it.Role == model.User }

// rewrite has f replace items with images.
func rewrite(items []*model.Item, f func(*model.Item) *model.Item) []*model.Item {
	out, copied := items, false
	for i, it := range items {
		if len(it.Images) == 0 {
			continue
		}
		own := f(it)
		if own == it {
			continue
		}
		if !copied {
			out, copied = slices.Clone(items), true
		}
		out[i] = own
	}
	return out
}
