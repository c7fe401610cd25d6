package modelhook

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
)

// markerPrefix stands before "[Image #N]" where an image has its place; hooks see the text without it.
const markerPrefix = "\u2063"

// element is one item of the list as the last accepted hook left it.
type element struct {
	shown hook.Item
	src   *model.Item // the item that it is; nil for a new one and for the live system text
	live  bool        // the live system text
}

// list is the current list of a request. It is not changed once made.
type list struct {
	elements []element
	images   map[int]model.Image // every image of the request, by number
}

func project(r Request) *list {
	l := &list{elements: make([]element, 0, len(r.Items)+1), images: map[int]model.Image{}}
	if r.System != "" {
		l.elements = append(l.elements, element{shown: hook.Item{ID: "0", Kind: model.Message, Role: model.System, Text: r.System}, live: true})
	}
	names := map[string]string{}
	for _, it := range r.Items {
		l.elements = append(l.elements, element{shown: show(len(l.elements), it, names), src: it})
		for _, m := range it.Images {
			l.images[m.Number] = m
		}
	}
	return l
}

// show projects an item; names collects the tool of each call, so that its result can be shown with it.
func show(index int, it *model.Item, names map[string]string) hook.Item {
	name := it.Name
	switch it.Kind {
	case model.ToolCall:
		names[it.CallID] = it.Name
	case model.ToolResult:
		name = names[it.CallID]
	}
	out := hook.Project(strconv.Itoa(index), it, name)
	out.Text = strings.ReplaceAll(out.Text, markerPrefix+"[Image #", "[Image #")
	return out
}

func (l *list) request(r Request) hook.Request {
	items := make([]hook.Item, len(l.elements))
	for i := range l.elements {
		items[i] = l.elements[i].shown
	}
	return hook.Request{Scope: r.Scope, Purpose: r.Purpose, AcceptsImages: r.AcceptsImages, Items: hook.CopyItems(items)}
}

func (l *list) find(id string, kind model.Kind) *element {
	for i := range l.elements {
		if e := &l.elements[i]; e.shown.ID == id && e.shown.Kind == kind {
			return e
		}
	}
	return nil
}

// apply makes the next list of what a hook returned.
func (l *list) apply(items []hook.Item) *list {
	next := &list{elements: make([]element, len(items)), images: l.images}
	for i, it := range hook.CopyItems(items) {
		next.elements[i] = element{shown: it}
		if e := l.find(it.ID, it.Kind); e != nil {
			next.elements[i].src, next.elements[i].live = e.src, e.live
			if it.Kind == model.ToolResult {
				next.elements[i].shown.Name = e.shown.Name
			}
		}
	}
	return next
}

// changed reports whether the list differs from the projection of the request.
func (l *list) changed(r Request) bool {
	first := project(r)
	return !slices.EqualFunc(l.elements, first.elements, func(a, b element) bool {
		return a.src == b.src && a.live == b.live && same(a.shown, b.shown)
	})
}

func same(a, b hook.Item) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID &&
		a.Name == b.Name && a.Arguments == b.Arguments && a.Success == b.Success && slices.Equal(a.Images, b.Images)
}

// build makes the items to send.
func (l *list) build(r Request) Prepared {
	first := project(r)
	var out Prepared
	for _, e := range l.elements {
		switch {
		case e.live && e.shown.Role == model.System:
			out.System = e.shown.Text
			continue
		case e.src != nil:
			if was := first.find(originalID(first, e.src), e.shown.Kind); was != nil && sameContent(e.shown, was.shown) {
				out.Items = append(out.Items, e.src)
				continue
			}
		}
		out.Items = append(out.Items, l.item(e))
	}
	return out
}

func originalID(first *list, src *model.Item) string {
	for i := range first.elements {
		if first.elements[i].src == src {
			return first.elements[i].shown.ID
		}
	}
	return ""
}

func sameContent(a, b hook.Item) bool {
	b.ID = a.ID
	return same(a, b)
}

// item makes the item that an element stands for.
func (l *list) item(e element) *model.Item {
	s := e.shown
	out := &model.Item{Kind: s.Kind, Role: s.Role, CallID: s.CallID, Arguments: s.Arguments}
	if e.src != nil {
		own := *e.src
		out = &own
		out.Role, out.CallID, out.Arguments = s.Role, s.CallID, s.Arguments
	}
	switch s.Kind {
	case model.ToolCall:
		out.Name = s.Name
		out.State = nil // it belongs to the call as the model made it
	case model.ToolResult:
		out.Status = status(out.Status, s.Success)
	case model.Reasoning:
		out.Segments = []model.Segment{{Text: s.Text, Kind: model.SegmentText}}
		out.State = nil
		return out
	}
	out.Text, out.Images = l.text(s)
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

// text puts the markers of the listed images back into a text: one that is not listed loses its place, one without a
// place gets one at the end.
func (l *list) text(s hook.Item) (string, []model.Image) {
	text := s.Text
	for number := range l.images {
		if !slices.ContainsFunc(s.Images, func(r hook.ImageRef) bool { return r.Number == number }) {
			text = strings.ReplaceAll(text, "[Image #"+strconv.Itoa(number)+"]", "")
		}
	}
	var images []model.Image
	for _, ref := range s.Images {
		images = append(images, l.images[ref.Number])
		plain := "[Image #" + strconv.Itoa(ref.Number) + "]"
		if strings.Contains(text, plain) {
			text = strings.Replace(text, plain, markerPrefix+plain, 1)
			continue
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += markerPrefix + plain
	}
	return text, images
}
