package modelhook

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// build makes what is sent. The live system text stays the system text of the request wherever it stands in the list, as
// long as it is a system message.
func (l *list) build() Prepared {
	out := Prepared{Items: make([]*model.Item, 0, len(l.elements))}
	for i := range l.elements {
		e := &l.elements[i]
		if e.first == 0 && l.live && e.shown.Role == model.System {
			out.System = e.shown.Text
			continue
		}
		if src := l.source(e); src != nil && same(e.shown, l.first[e.first].shown) {
			out.Items = append(out.Items, src)
			continue
		}
		out.Items = append(out.Items, l.item(e))
	}
	return out
}

// item makes the item that a changed or new element stands for. State of a provider belongs to what the provider made and
// does not go with it.
func (l *list) item(e *element) *model.Item {
	s := &e.shown
	out := &model.Item{Kind: s.Kind, Role: s.Role, CallID: s.CallID, Arguments: s.Arguments}
	if src := l.source(e); src != nil {
		out.ID, out.Status = src.ID, src.Status
	}
	switch s.Kind {
	case model.ToolCall:
		out.Name = s.Name
		return out
	case model.ToolResult:
		out.Status = status(out.Status, s.Success)
	case model.Reasoning:
		out.Segments = []model.Segment{{Text: s.Text, Kind: model.SegmentText}}
		return out
	}
	out.Text, out.Images = l.text(e)
	return out
}

// status keeps the stored status as long as success is what it was.
func status(stored model.Status, success bool) model.Status {
	switch {
	case success:
		return model.Success
	case stored == model.Success || stored == "":
		return model.Failure
	}
	return stored
}

// text puts the markers of the listed images into a text. An image that the item had and that is not listed any more loses
// its place; one without a place gets one at the end, on a line of its own.
func (l *list) text(e *element) (string, []model.Image) {
	text := e.shown.Text
	if e.first >= 0 {
		for _, had := range l.first[e.first].shown.Images {
			if !slices.ContainsFunc(e.shown.Images, func(r hook.ImageRef) bool { return r.Number == had.Number }) {
				text = strings.ReplaceAll(text, place(had.Number), "")
			}
		}
	}
	var images []model.Image
	for _, ref := range e.shown.Images {
		images = append(images, l.image(ref.Number))
		plain := place(ref.Number)
		if i := strings.LastIndex(text, plain); i >= 0 {
			text = text[:i] + markerPrefix + text[i:]
			continue
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += markerPrefix + plain
	}
	return text, images
}

// place is how hooks see where an image stands.
func place(number int) string { return "[Image #" + strconv.Itoa(number) + "]" }

// image returns an image of the request; the hook's list was checked to hold no other.
func (l *list) image(number int) model.Image {
	for _, it := range l.request.Items {
		for _, m := range it.Images {
			if m.Number == number {
				return m
			}
		}
	}
	return model.Image{}
}
