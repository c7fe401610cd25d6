package schema

// keyword is how one keyword is read into a node. What its meta-schema asks of the value is checked on the way.
type keyword struct {
	dialects uint8 // bits of dialect
	read     func(c *compiler, n *node, name string, v int32)
}

func (k keyword) in(d dialect) bool { return k.dialects&(1<<d) != 0 }

const (
	all   = 1<<draft07 | 1<<draft2019 | 1<<draft2020
	since = 1<<draft2019 | 1<<draft2020
)

var keywords map[string]keyword

// The table refers to functions that use it, so it is filled at the start.
func init() {
	annotation := keyword{all, func(c *compiler, _ *node, name string, v int32) { c.text(v, name, func(string) {}) }}
	flag := keyword{all, func(c *compiler, _ *node, name string, v int32) { c.flag(v, name, func(bool) {}) }}
	keywords = map[string]keyword{
		"$schema": annotation, "$comment": annotation, "title": annotation, "description": annotation, "format": annotation,
		"contentMediaType": annotation, "contentEncoding": annotation, "$id": annotation,
		"readOnly": flag, "writeOnly": flag,
		"deprecated":       {since, flag.read},
		"$anchor":          {since, annotation.read},
		"$dynamicAnchor":   {1 << draft2020, annotation.read},
		"$recursiveAnchor": {1 << draft2019, flag.read},
		"examples":         {all, func(c *compiler, _ *node, name string, v int32) { c.list(v, name) }},
		"$vocabulary":      {since, func(c *compiler, _ *node, name string, v int32) { c.object(v, name) }},
		"contentSchema":    {since, func(c *compiler, n *node, name string, v int32) { c.sub(n, name, v) }},
		"$defs":            {since, readMap(nil)},
		"definitions":      {all, readMap(nil)},

		"$ref":          {all, readRef},
		"$dynamicRef":   {1 << draft2020, readRef},
		"$recursiveRef": {1 << draft2019, readRef},

		"type":  {all, readType},
		"enum":  {all, readEnum},
		"const": {all, func(_ *compiler, n *node, _ string, v int32) { n.fixed = v }},

		"allOf": {all, readList(func(n *node, l []*node) { n.allOf = l })},
		"anyOf": {all, readList(func(n *node, l []*node) { n.anyOf = l })},
		"oneOf": {all, readList(func(n *node, l []*node) { n.oneOf = l })},
		"not":   {all, readSub(func(n, s *node) { n.not = s })},
		"if":    {all, readSub(func(n, s *node) { n.when = s })},
		"then":  {all, readSub(func(n, s *node) { n.then = s })},
		"else":  {all, readSub(func(n, s *node) { n.other = s })},

		"multipleOf":       {all, readNumber(func(r *numberRules, b *bound) { r.multiple = b })},
		"minimum":          {all, readNumber(func(r *numberRules, b *bound) { r.minimum = b })},
		"maximum":          {all, readNumber(func(r *numberRules, b *bound) { r.maximum = b })},
		"exclusiveMinimum": {all, readNumber(func(r *numberRules, b *bound) { r.above = b })},
		"exclusiveMaximum": {all, readNumber(func(r *numberRules, b *bound) { r.below = b })},

		"minLength": {all, readCount(func(n *node, v int) { n.text().minimum = v })},
		"maxLength": {all, readCount(func(n *node, v int) { n.text().maximum = v })},
		"pattern":   {all, readPattern},

		"minProperties":         {all, readCount(func(n *node, v int) { n.member().minimum = v })},
		"maxProperties":         {all, readCount(func(n *node, v int) { n.member().maximum = v })},
		"required":              {all, readRequired},
		"properties":            {all, readProperties},
		"patternProperties":     {all, readPatternProperties},
		"additionalProperties":  {all, readSub(func(n, s *node) { n.member().additional = s })},
		"propertyNames":         {all, readSub(func(n, s *node) { n.member().names = s })},
		"dependentRequired":     {since, readDependents},
		"dependentSchemas":      {since, readDependents},
		"dependencies":          {all, readDependents},
		"unevaluatedProperties": {since, readSub(func(n, s *node) { n.member().unevaluated = s })},

		"minItems": {all, readCount(func(n *node, v int) { n.item().minimum = v })},
		"maxItems": {all, readCount(func(n *node, v int) { n.item().maximum = v })},
		"uniqueItems": {all, func(c *compiler, n *node, name string, v int32) {
			c.flag(v, name, func(b bool) { n.item().unique = b })
		}},
		"prefixItems":      {1 << draft2020, readList(func(n *node, l []*node) { n.item().prefix = l; n.item().prefixKey = "prefixItems" })},
		"items":            {all, readItems},
		"additionalItems":  {1<<draft07 | 1<<draft2019, func(c *compiler, n *node, name string, v int32) { c.sub(n, name, v) }},
		"contains":         {all, readSub(func(n, s *node) { n.item().contains = s })},
		"minContains":      {since, readCount(func(n *node, v int) { n.item().least = v })},
		"maxContains":      {since, readCount(func(n *node, v int) { n.item().most = v })},
		"unevaluatedItems": {since, readSub(func(n, s *node) { n.item().unevaluated = s })},
	}
}

// finish settles what depends on several keywords.
func (c *compiler) finish(i int32, n *node) {
	if more := c.t.member(i, "additionalItems"); more >= 0 && c.dialect != draft2020 && n.items != nil && n.items.prefix != nil {
		n.items.rest = c.nodes[more]
	}
	if n.members != nil {
		n.members.seal()
		c.tracks = c.tracks || n.members.unevaluated != nil
	}
	if n.items != nil {
		c.tracks = c.tracks || n.items.unevaluated != nil
	}
	if n.when == nil {
		n.then, n.other = nil, nil
	}
	referred := c.t.member(i, "$ref") >= 0 || c.t.member(i, "$dynamicRef") >= 0 || c.t.member(i, "$recursiveRef") >= 0
	n.plain = !n.never && !referred && !n.listed && n.fixed < 0 && n.numbers == nil && n.texts == nil && n.members == nil && n.items == nil &&
		n.allOf == nil && n.anyOf == nil && n.oneOf == nil && n.not == nil && n.when == nil
}
