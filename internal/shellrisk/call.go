package shellrisk

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxWrappers is how many wrappers may stand before one command.
const maxWrappers = 32

// site is where a simple command stands.
type site struct {
	stmt     *syntax.Stmt
	fed      trait // of what is substituted in its words and redirections
	wrapped  bool
	wrappers int
}

// call judges a simple command.
func (j *judge) call(s *syntax.Stmt, c *syntax.CallExpr) {
	at := &site{stmt: s, fed: j.fed}
	for _, a := range c.Assigns {
		at.fed |= j.assign(s, a)
	}
	var words []word
	for _, arg := range c.Args {
		at.fed |= j.substitutions(arg)
		words = append(words, j.expand(arg)...)
	}
	for _, v := range words {
		if !v.static {
			j.notRead()
		}
		j.credential(v.text, s)
	}
	if len(words) > 0 {
		j.run(at, words)
	}
}

// assign judges an assignment, and returns the traits of what it substitutes.
func (j *judge) assign(s *syntax.Stmt, a *syntax.Assign) trait {
	if a.Name != nil {
		j.variable(a.Name.Value, s)
	}
	if a.Index != nil || a.Array != nil {
		j.notRead()
	}
	if a.Value != nil {
		v := j.single(a.Value)
		if !v.static {
			j.notRead()
		}
		j.credential(v.text, s)
	}
	return j.substitutions(a)
}

// variable notes the assignment of a variable that changes what later commands run.
func (j *judge) variable(name string, n syntax.Node) {
	if environment[name] || strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "DYLD_") {
		j.privileged("changes the environment of commands", n)
	}
}

// declaration judges export, declare and their kind.
func (j *judge) declaration(s *syntax.Stmt, c *syntax.DeclClause) {
	j.notRead()
	for _, a := range c.Args {
		j.assign(s, a)
		if a.Name == nil && a.Value != nil {
			for _, v := range j.expand(a.Value) {
				name, _, _ := strings.Cut(v.text, "=")
				j.variable(name, s)
			}
		}
	}
}

// run judges a command by its words.
func (j *judge) run(at *site, words []word) {
	first := words[0]
	if !first.static || first.glob && first.text != "[" || first.other {
		j.notRead()
		j.unknown("command name is computed", at.stmt)
		j.pathArguments(at.stmt, "", words[1:])
		return
	}
	name := commandName(first.text)
	args := words[1:]
	if f := j.defined[name]; f != nil {
		j.invoke(f, at.stmt)
	}
	lower := strings.ToLower(name)
	if at.fed&downloads != 0 && (interpreter(lower) || lower == "eval" || lower == "source" || lower == ".") {
		j.forbid("runs downloaded code", at.stmt)
	}
	if j.unwrap(at, lower, words) {
		return
	}
	j.pathArguments(at.stmt, lower, args)
	if interpreter(lower) {
		j.traits |= interprets
	}
	j.dangerous(at, lower, args)
	switch {
	case shells[lower]:
		j.shell(at, lower, args)
	case lower == "cd" || lower == "pushd":
		j.change(at.stmt, args)
	case lower == "popd":
		j.at.lost = true
	case lower == "source" || lower == ".":
		j.notRead()
		if len(args) > 0 && strings.HasPrefix(args[0].text, "/dev/") {
			j.traits |= interprets
			if j.input.kind == fromPipe {
				j.unknown("reads its commands from a pipe", at.stmt)
			}
		}
	}
	if !j.readable {
		return
	}
	if at.wrapped || !safe(first.text, args) {
		j.notRead()
		return
	}
	for _, v := range args {
		j.readPath(at.stmt, v)
	}
}

// commandName takes the directory and the ending off a command word.
func commandName(text string) string {
	name := text[strings.LastIndexAny(text, `/\`)+1:]
	if len(name) > 4 && strings.EqualFold(name[len(name)-4:], ".exe") {
		name = name[:len(name)-4]
	}
	return name
}

// shell judges a shell by what it would run.
func (j *judge) shell(at *site, name string, args []word) {
	j.notRead()
	text, script, stdin := shellArguments(args)
	switch {
	case text != nil && !text.static:
		j.unknown("runs computed text", at.stmt)
	case text != nil:
		j.apart(func() { j.script(text.text, j.nesting+1) })
	case script != nil && !stdin:
		// A script in a file is any program; its path was judged.
	case j.input.kind == fromPipe:
		j.unknown("reads its commands from a pipe", at.stmt)
	case j.input.kind == fromComputed:
		j.unknown("runs computed text", at.stmt)
	case j.input.kind == fromText:
		text := j.input.text
		j.apart(func() {
			j.input = input{}
			j.script(text, j.nesting+1)
		})
	}
}

// shellArguments finds the text of -c, or the script, or that the script is the input.
func shellArguments(args []word) (text, script *word, stdin bool) {
	command := false
	i := 0
	for ; i < len(args); i++ {
		w := args[i].text
		if len(w) < 2 || w[0] != '-' && w[0] != '+' {
			break
		}
		if w == "--" {
			i++
			break
		}
		if name, ok := strings.CutPrefix(w, "--"); ok {
			name, value, joined := strings.Cut(name, "=")
			switch {
			case name == "command" && joined:
				v := args[i]
				v.text = value
				return &v, nil, false
			case name == "command":
				command = true
			case (name == "rcfile" || name == "init-file") && !joined:
				i++
			}
			continue
		}
		command = command || w[0] == '-' && strings.Contains(w, "c")
		stdin = stdin || w[0] == '-' && strings.Contains(w, "s")
		if strings.ContainsAny(w, "oO") {
			i++
		}
	}
	if i >= len(args) {
		return nil, nil, stdin
	}
	v := args[i]
	if command {
		return &v, nil, false
	}
	if v.static && (v.text == "-" || v.text == "/dev/stdin" || strings.HasPrefix(v.text, "/dev/fd/") || v.text == "/proc/self/fd/0") {
		stdin = true
	}
	return nil, &v, stdin
}

// pathArguments judges those words of a command that are spelled as paths.
func (j *judge) pathArguments(s *syntax.Stmt, name string, args []word) {
	skip := notPaths(name, args)
	for i, v := range args {
		if !skip[i] {
			j.pathArgument(s, v)
		}
	}
}

// notPaths lists the words that are scripts or patterns.
func notPaths(name string, args []word) map[int]bool {
	if interpreter(name) {
		for i, v := range args {
			if len(v.text) > 1 && v.text[0] == '-' && v.text[1] != '-' && strings.ContainsAny(v.text[len(v.text)-1:], "ce") {
				return map[int]bool{i + 1: true}
			}
		}
		return nil
	}
	values, ok := patternCommands[name]
	if !ok {
		return nil
	}
	skip := map[int]bool{}
	given := false
	first := -1
	for i := 0; i < len(args); i++ {
		text := args[i].text
		switch {
		case text == "--":
			if first < 0 && i+1 < len(args) {
				first = i + 1
			}
			i = len(args)
		case strings.HasPrefix(text, "--"):
			option, _, joined := strings.Cut(text[2:], "=")
			switch option {
			case "regexp", "expression":
				given = true
				skip[i] = true
				if !joined {
					skip[i+1] = true
					i++
				}
			case "file", "from-file":
				given = true
			case "glob", "iglob", "type", "type-not", "max-count", "max-depth", "context", "after-context", "before-context":
				if !joined {
					i++
				}
			case "arg", "argjson", "slurpfile", "rawfile":
				i += 2
			}
		case len(text) > 1 && text[0] == '-':
			last := text[len(text)-1]
			switch {
			case strings.Contains(values, string(last)):
				if last == 'e' && name != "jq" {
					given = true
					skip[i+1] = true
				} else if last == 'f' {
					given = true
				}
				i++
			case strings.Contains(text, "e") && name != "jq" && name != "awk" && name != "gawk":
				given = given || strings.HasPrefix(text, "-e")
			}
		case first < 0:
			first = i
		}
	}
	if !given && first >= 0 {
		skip[first] = true
	}
	return skip
}
