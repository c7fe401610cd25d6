package kernel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

// Input is one user input and what is wanted for its turn.
type Input struct {
	Text   string  // required, unless there are images
	Images []Image // appended to the text, each on a line of its own
	Mode   string  // work or plan; blank: the thread's
	Model  string  // provider/model; blank: the thread's
	Gear   string  // thinking gear, "default" for the model's own; blank: the thread's
	Limits Limits  // zero values: the kernel's

	// Instructions are sent as the system text word for word: no source of agent.context is asked. Blank: the prompt is
	// composed.
	Instructions string
}

// Image is an image of an input: png, jpeg, gif or webp, at most 20 MiB.
type Image struct {
	MediaType string
	Data      []byte
}

// check returns why no turn can be made of the input.
func (in *Input) check() error {
	if strings.TrimSpace(in.Text) == "" && len(in.Images) == 0 {
		return ErrBlank
	}
	if in.Mode != "" && in.Mode != ModeWork && in.Mode != ModePlan {
		return fmt.Errorf("%w %q: it is work or plan", ErrMode, in.Mode)
	}
	for i := range in.Images {
		if err := threadlog.CheckImage(in.Images[i].MediaType, in.Images[i].Data); err != nil {
			return fmt.Errorf("kernel: image %d of the input: %w", i+1, err)
		}
	}
	return nil
}

// userItem makes the item of an input: the markers of its images stand at its end.
func (t *turn) userItem(in *Input, item *model.Item) error {
	*item = model.Item{Kind: model.Message, Role: model.User, Text: in.Text}
	if len(in.Images) == 0 {
		return nil
	}
	item.Text = strings.TrimSpace(threadlog.PlainMarkers(item.Text))
	for _, m := range in.Images {
		stored, err := t.thread.log.AddImage(m.MediaType, m.Data)
		if err != nil {
			return fmt.Errorf("kernel: store an image of the input: %w", err)
		}
		item.Images = append(item.Images, stored)
		if item.Text != "" {
			item.Text += "\n"
		}
		item.Text += threadlog.Marker(stored.Number)
	}
	return nil
}

// replaceText gives an item the text that hooks made of its own. They saw markers as plain text: an image whose place is
// gone is dropped, and the rest keeps its place.
func replaceText(item *model.Item, text string) {
	item.Images = slices.DeleteFunc(item.Images, func(m model.Image) bool {
		marker := threadlog.Marker(m.Number)
		plain := threadlog.PlainMarkers(marker)
		// The last one is the image's: markers are appended to what a person typed.
		i := strings.LastIndex(text, plain)
		if i >= 0 {
			text = text[:i] + marker + text[i+len(plain):]
		}
		return i < 0
	})
	item.Text = text
}
