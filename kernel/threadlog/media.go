package threadlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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

// WithoutImages takes the images out of items: their places become plain text. Only items with images are copied, and
// without any the given slice is returned.
func WithoutImages(items []*model.Item) []*model.Item {
	var out []*model.Item
	for i, it := range items {
		if len(it.Images) == 0 {
			continue
		}
		if out == nil {
			out = append(make([]*model.Item, 0, len(items)), items...)
		}
		own := *it
		own.Images, own.Text = nil, PlainMarkers(it.Text)
		out[i] = &own
	}
	if out == nil {
		return items
	}
	return out
}

// Images prepares items for a request: with accepts, images of user messages and tool results get their bytes, others
// become plain text. Only items with images are copied, and without any the given slice is returned. An image whose
// bytes are gone becomes plain text, with a note.
func (l *Log) Images(items []*model.Item, accepts bool) ([]*model.Item, []Note) {
	l.reading.RLock()
	some := l.images
	l.reading.RUnlock()
	if !some {
		return items, nil
	}
	var out []*model.Item
	var notes []Note
	for i, it := range items {
		if len(it.Images) == 0 {
			continue
		}
		if out == nil {
			out = append(make([]*model.Item, 0, len(items)), items...)
		}
		sent := *it
		sent.Images = nil
		if accepts && (it.Kind == model.ToolResult || it.Role == model.User) {
			for _, img := range it.Images {
				data, err := l.media.get(img.SHA256)
				if err != nil {
					notes = append(notes, Note{Code: MediaMissing, Thread: l.id, Message: fmt.Sprintf(
						"the bytes of image %d are gone; its place is sent as text", img.Number)})
					continue
				}
				img.Data = data
				sent.Images = append(sent.Images, img)
			}
		}
		sent.Text = ownMarkers(sent.Text, sent.Images)
		out[i] = &sent
	}
	if out == nil {
		return items, nil
	}
	return out, notes
}
