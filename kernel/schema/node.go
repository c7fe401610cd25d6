package schema

import "regexp"

// types is a set of the type names of JSON Schema.
type types uint8

const (
	typeNull types = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject
)

var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

func typeNamed(name string) types {
	for i, n := range typeNames {
		if n == name {
			return 1 << i
		}
	}
	return 0
}

// and returns what both sets allow: an integer is a number.
func (t types) and(o types) types {
	both := t & o
	if (t|o)&typeInteger != 0 && (t&(typeInteger|typeNumber)) != 0 && (o&(typeInteger|typeNumber)) != 0 && both&typeNumber == 0 {
		both |= typeInteger
	}
	return both
}

func (t types) String() string {
	s := ""
	for i, n := range typeNames {
		if t&(1<<i) != 0 {
			if s != "" {
				s += " or "
			}
			s += n
		}
	}
	return s
}

// node is one compiled schema. Most of it is absent in most schemas: a node that says no more than its types is plain.
type node struct {
	at     string // schema pointer
	res    *resource
	plain  bool // types alone decide
	never  bool // the schema false
	types  types
	typed  bool
	ref    *node
	hop    *hop // $dynamicRef or $recursiveRef
	refKey string

	values  []int32 // enum
	listed  bool    // enum is there
	fixed   int32   // const; -1: none
	numbers *numberRules
	texts   *textRules
	members *memberRules
	items   *itemRules

	allOf, anyOf, oneOf    []*node
	not, when, then, other *node
}

// hop is a reference whose end depends on how it was reached: the outermost resource on the way that has the anchor.
type hop struct {
	to     *node
	anchor string // blank: $recursiveAnchor
	bound  bool   // the first end has the anchor; else the reference is an ordinary one
}

type numberRules struct {
	multiple, minimum, maximum, above, below *bound
}

type textRules struct {
	minimum, maximum int // -1: none
	pattern          *regexp.Regexp
	source           string
}

type memberRules struct {
	minimum, maximum int // -1: none
	index            map[string]int
	list             []member // what is known by name, in the order of the schema
	required         []int    // places in list
	mask             uint64   // of required, when there are at most 64
	patterns         []patternMember
	additional       *node
	names            *node
	dependents       []dependent
	unevaluated      *node
}

type member struct {
	name     string
	schema   *node // nil: only required
	required int   // bit in mask; -1: not required
}

type patternMember struct {
	pattern *regexp.Regexp
	schema  *node
}

// dependent is what the presence of a member asks for.
type dependent struct {
	name    string
	needs   []string
	schema  *node
	keyword string
}

type itemRules struct {
	minimum, maximum int // -1: none
	unique           bool
	prefix           []*node
	rest             *node
	prefixKey        string
	contains         *node
	least, most      int // of contains; most -1: none
	unevaluated      *node
}

// linear is the number of members up to which a search by comparing is quicker than a map.
const linear = 8

// find returns the place of a name in list, or -1.
func (m *memberRules) find(name string) int {
	if m.index != nil {
		if i, ok := m.index[name]; ok {
			return i
		}
		return -1
	}
	for i := range m.list {
		if m.list[i].name == name {
			return i
		}
	}
	return -1
}

// place returns the place of a name, which it adds when it is new.
func (m *memberRules) place(name string) int {
	if i := m.find(name); i >= 0 {
		return i
	}
	i := len(m.list)
	m.list = append(m.list, member{name: name, required: -1})
	if m.index != nil {
		m.index[name] = i
	} else if len(m.list) > linear {
		m.index = make(map[string]int, 2*len(m.list))
		for k := range m.list {
			m.index[m.list[k].name] = k
		}
	}
	return i
}

// seal makes the mask.
func (m *memberRules) seal() {
	for bit, i := range m.required {
		if bit < 64 {
			m.list[i].required = bit
			m.mask |= 1 << bit
		}
	}
}

// inPlace calls f for every node that is applied to the same part of the instance as n.
func (n *node) inPlace(f func(*node)) {
	each := func(list ...*node) {
		for _, s := range list {
			if s != nil {
				f(s)
			}
		}
	}
	each(n.ref, n.not, n.when, n.then, n.other)
	each(n.allOf...)
	each(n.anyOf...)
	each(n.oneOf...)
	if n.members != nil {
		for _, d := range n.members.dependents {
			each(d.schema)
		}
	}
}
