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
	first int // its place in the projection; -1 for a new item
}

// list is the current list of a request. Its elements are not changed once made.
type list struct {
	request  *Request
	elements []element
	first    []element      // the projection
	live     bool           // the projection begins with the live system text
	places   map[string]int // of ids; made when needed
	shared   []hook.Item    // what guarded hooks are shown; made when needed
}

func project(r *Request) *list {
	l := &list{request: r, elements: make([]element, 0, len(r.Items)+1)}
	if r.System != "" {
		l.live = true
		l.elements = append(l.elements, element{shown: hook.Item{ID: "0", Kind: model.Message, Role: model.System, Text: r.System}})
	}
	names := map[string]string{}
	for _, it := range r.Items {
		at := len(l.elements)
		l.elements = append(l.elements, element{shown: show(at, it, names), first: at})
	}
	l.first = l.elements
	return l
}

// source is the item that an element of the projection shows; nil for the live system text and for a new item.
func (l *list) source(e *element) *model.Item {
	switch {
	case e.first < 0:
		return nil
	case !l.live:
		return l.request.Items[e.first]
	case e.first == 0:
		return nil
	}
	return l.request.Items[e.first-1]
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

// shown is the request as the next hook sees it: a copy, which it owns. The guard of a plugin's hook copies for itself, so
// that guarded ones share one.
func (l *list) shown(guarded bool) hook.Request {
	items := l.shared
	if items == nil || !guarded {
		items = make([]hook.Item, len(l.elements))
		for i := range l.elements {
			items[i] = l.elements[i].shown
			items[i].Images = slices.Clone(items[i].Images)
		}
		if guarded {
			l.shared = items
		}
	}
	r := l.request
	return hook.Request{Scope: r.Scope, Purpose: r.Purpose, AcceptsImages: r.AcceptsImages, Items: items}
}

// find returns the element with an id and a kind. at is where it is likely to be.
func (l *list) find(at int, id string, kind model.Kind) *element {
	if at >= len(l.elements) || l.elements[at].shown.ID != id {
		if l.places == nil {
			l.places = make(map[string]int, len(l.elements))
			for i := range l.elements {
				l.places[l.elements[i].shown.ID] = i
			}
		}
		found, ok := l.places[id]
		if !ok {
			return nil
		}
		at = found
	}
	if e := &l.elements[at]; e.shown.Kind == kind {
		return e
	}
	return nil
}

// apply makes the next list of what a hook returned; l itself when nothing differs.
func (l *list) apply(items []hook.Item) *list {
	next := &list{request: l.request, elements: make([]element, len(items)), first: l.first, live: l.live}
	changed := len(items) != len(l.elements)
	var names map[string]string
	for i, it := range items {
		it.Images = slices.Clone(it.Images)
		e := element{shown: it, first: -1}
		if was := l.find(i, it.ID, it.Kind); was != nil {
			e.first = was.first
			e.shown.Name = named(&it, was)
			changed = changed || was != &l.elements[i] || !same(e.shown, was.shown)
		} else {
			changed = true
			if it.Kind == model.ToolResult {
				if names == nil {
					names = callNames(items)
				}
				e.shown.Name = names[it.CallID]
			}
		}
		next.elements[i] = e
	}
	if !changed {
		return l
	}
	return next
}

// named is the name that a returned item goes on with: that of a result is never the hook's.
func named(it *hook.Item, was *element) string {
	if it.Kind == model.ToolResult {
		return was.shown.Name
	}
	return it.Name
}

func callNames(items []hook.Item) map[string]string {
	names := map[string]string{}
	for i := range items {
		if items[i].Kind == model.ToolCall {
			names[items[i].CallID] = items[i].Name
		}
	}
	return names
}

// changed reports whether the list differs from the projection.
func (l *list) changed() bool {
	return !slices.EqualFunc(l.elements, l.first, func(a, b element) bool { return a.first == b.first && same(a.shown, b.shown) })
}

func same(a, b hook.Item) bool {
	return a.ID == b.ID && a.Kind == b.Kind && a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID &&
		a.Name == b.Name && a.Arguments == b.Arguments && a.Success == b.Success && slices.Equal(a.Images, b.Images)
}
