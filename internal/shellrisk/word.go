package shellrisk

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxWords is how many words one word with braces may stand for.
const maxWords = 64

// word is one argument as the command would get it.
type word struct {
	text   string // what it is; of one that isn't static, the part before what isn't known
	static bool
	home   bool // it begins with the home directory
	other  bool // it begins with a tilde that stands for another directory
	glob   bool // it holds a pattern outside of quotes
	found  bool // what isn't known of it comes from a search or a list of names
	node   *syntax.Word
}

// expand returns the words that w stands for. A word with too many braces is one that isn't static.
func (j *judge) expand(w *syntax.Word) []word {
	parts := w.Parts
	split := &syntax.Word{Parts: parts}
	if openBraces(parts) > maxBraces {
		return []word{{node: w}} // telling what these stand for would take too long
	}
	if !syntax.SplitBraces(split) {
		v := j.evaluate(parts)
		v.node = w
		return []word{v}
	}
	all, ok := braces(split.Parts)
	if !ok {
		return []word{{node: w}}
	}
	out := make([]word, 0, len(all))
	for _, parts := range all {
		v := j.evaluate(parts)
		v.node = w
		out = append(out, v)
	}
	return out
}

// maxBraces is how many braces are opened in a word that is looked at.
const maxBraces = 32

func openBraces(parts []syntax.WordPart) int {
	n := 0
	for _, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok {
			n += strings.Count(lit.Value, "{")
		}
	}
	return n
}

// braces multiplies the alternatives of a word out.
func braces(parts []syntax.WordPart) ([][]syntax.WordPart, bool) {
	all := [][]syntax.WordPart{nil}
	for _, part := range parts {
		b, isBrace := part.(*syntax.BraceExp)
		options := [][]syntax.WordPart{{part}}
		if isBrace {
			var ok bool
			if options, ok = alternatives(b); !ok {
				return nil, false
			}
		}
		if len(all)*len(options) > maxWords {
			return nil, false
		}
		next := make([][]syntax.WordPart, 0, len(all)*len(options))
		for _, head := range all {
			for _, tail := range options {
				next = append(next, append(head[:len(head):len(head)], tail...))
			}
		}
		all = next
	}
	return all, true
}

func alternatives(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	if b.Sequence {
		return sequence(b)
	}
	var out [][]syntax.WordPart
	for _, e := range b.Elems {
		more, ok := braces(e.Parts)
		if !ok || len(out)+len(more) > maxWords {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// sequence expands {1..9} and {a..e}.
func sequence(b *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	if len(b.Elems) < 2 {
		return nil, false
	}
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	letters := false
	x, errX := strconv.Atoi(from)
	y, errY := strconv.Atoi(to)
	if errX != nil || errY != nil {
		if len(from) != 1 || len(to) != 1 {
			return nil, false
		}
		x, y, letters = int(from[0]), int(to[0]), true
	}
	step := 1
	if len(b.Elems) > 2 {
		n, err := strconv.Atoi(b.Elems[2].Lit())
		if err != nil {
			return nil, false
		}
		step = max(1, max(n, -n))
	}
	distance := max(x-y, y-x)
	if distance < 0 || step <= 0 || distance/step >= maxWords {
		return nil, false
	}
	var out [][]syntax.WordPart
	for n := 0; n <= distance; n += step {
		at := x + n
		if y < x {
			at = x - n
		}
		value := strconv.Itoa(at)
		if letters {
			value = string(rune(at))
		}
		out = append(out, []syntax.WordPart{&syntax.SglQuoted{Value: value}})
	}
	return out, true
}

// evaluate reads the parts of a word as the shell would.
func (j *judge) evaluate(parts []syntax.WordPart) word {
	v := word{static: true}
	var b strings.Builder
	for i, part := range parts {
		if !j.part(&v, &b, part, i == 0) {
			v.static = false
			break
		}
	}
	v.text = b.String()
	return v
}

// part adds one part of a word, and reports whether it is static.
func (j *judge) part(v *word, b *strings.Builder, part syntax.WordPart, first bool) bool {
	switch p := part.(type) {
	case *syntax.Lit:
		text := p.Value
		if first && strings.HasPrefix(text, "~") {
			name, rest, slash := strings.Cut(text[1:], "/")
			if name == "" {
				v.home = true
				b.WriteString(j.homeDir())
				if slash {
					b.WriteByte('/')
				}
				text = rest
			} else {
				v.other = true
			}
		}
		v.glob = unquoted(b, text) || v.glob
		return true
	case *syntax.SglQuoted:
		if p.Dollar {
			ansi(b, p.Value)
		} else {
			b.WriteString(p.Value)
		}
		return true
	case *syntax.DblQuoted:
		for i, inner := range p.Parts {
			if lit, ok := inner.(*syntax.Lit); ok {
				doubleQuoted(b, lit.Value)
				continue
			}
			if !j.part(v, b, inner, first && i == 0) {
				return false
			}
		}
		return true
	case *syntax.ParamExp:
		if first && plainHome(p) {
			v.home = true
			b.WriteString(j.homeDir())
			return true
		}
		return false
	case *syntax.ExtGlob:
		v.glob = true
		b.WriteString(p.Op.String())
		b.WriteString(p.Pattern.Value)
		b.WriteByte(')')
		return true
	}
	return false
}

// homeDir is the home directory, or a tilde where there is none.
func (j *judge) homeDir() string {
	if home := j.fence.UserHome(); home != "" {
		return home
	}
	return "~"
}

// plainHome reports whether an expansion is $HOME or ${HOME}.
func plainHome(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Param.Value == "HOME" && !p.Excl && !p.Length && !p.Width && p.Index == nil &&
		p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// unquoted writes a literal without its escapes and reports whether it holds a pattern.
func unquoted(b *strings.Builder, text string) (glob bool) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
			if i < len(text) && text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case '*', '?', '[':
			glob = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return glob
}

func doubleQuoted(b *strings.Builder, text string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch c := text[i+1]; c {
			case '$', '`', '"', '\\':
				b.WriteByte(c)
				i++
				continue
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(text[i])
	}
}

// ansi writes the text of $'…'.
func ansi(b *strings.Builder, text string) {
	simple := map[byte]byte{
		'a': 7, 'b': 8, 'e': 0x1b, 'E': 0x1b, 'f': 12, 'n': '\n', 'r': '\r', 't': '\t', 'v': 11,
		'\\': '\\', '\'': '\'', '"': '"', '?': '?',
	}
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if out, ok := simple[c]; ok {
			b.WriteByte(out)
			continue
		}
		var value, size int
		switch c {
		case 'x':
			value, size = number(text[i+1:], 16, 2)
		case 'u':
			value, size = number(text[i+1:], 16, 4)
		case 'U':
			value, size = number(text[i+1:], 16, 8)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			value, size = number(text[i:], 8, 3)
			i--
		case 'c':
			if i+1 < len(text) {
				value, size = int(text[i+1]&0x1f), 1
			}
		}
		if size == 0 {
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		i += size
		if value == 0 {
			return // the shell ends the text here
		}
		if c == 'u' || c == 'U' {
			var buf [utf8.UTFMax]byte
			b.Write(buf[:utf8.EncodeRune(buf[:], rune(value))])
		} else {
			b.WriteByte(byte(value))
		}
	}
}

// number reads up to most digits.
func number(text string, base, most int) (value, size int) {
	for size < len(text) && size < most {
		d, err := strconv.ParseUint(text[size:size+1], base, 8)
		if err != nil {
			break
		}
		value = value*base + int(d)
		size++
	}
	return value, size
}
