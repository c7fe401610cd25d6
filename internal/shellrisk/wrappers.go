package shellrisk

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wrapper is a command that runs the command in its arguments.
type wrapper struct {
	values string   // letters of options that take a value
	long   []string // names of long options that take a value behind a space
	skip   int      // operands before the command
}

var wrappers = map[string]wrapper{
	"command": {}, "builtin": {}, "nohup": {}, "busybox": {}, "toybox": {}, "setsid": {},
	"exec":       {values: "a"},
	"nice":       {values: "n", long: []string{"adjustment"}},
	"ionice":     {values: "cnpPu", long: []string{"class", "classdata", "pid"}},
	"time":       {values: "fo", long: []string{"format", "output"}},
	"timeout":    {values: "sk", long: []string{"signal", "kill-after"}, skip: 1},
	"stdbuf":     {values: "ioe", long: []string{"input", "output", "error"}},
	"env":        {values: "uCS", long: []string{"unset", "chdir", "split-string"}},
	"xargs":      {values: "InPdLsaE", long: []string{"max-args", "max-procs", "delimiter", "max-lines", "max-chars", "arg-file"}},
	"parallel":   {values: "jnNILsaSdPXx", long: []string{"jobs", "delay", "timeout", "max-args", "colsep", "arg-file", "sshlogin", "results", "joblog"}},
	"watch":      {values: "nq", long: []string{"interval", "equexit"}},
	"caffeinate": {values: "wt"},
	"chronic":    {},
	"script":     {values: "cEIOBTmot", long: []string{"command", "log-out", "log-in", "log-io", "log-timing", "echo", "output-limit"}},
}

// unwrap judges the command inside a wrapper in its place. It reports false when name is no wrapper.
func (j *judge) unwrap(at *site, name string, words []word) bool {
	switch name {
	case "eval":
		j.notRead()
		j.traits |= interprets
		j.eval(at, words[1:])
		return true
	case "find":
		j.find(at, words[1:])
		return true
	}
	w, ok := wrappers[name]
	if !ok {
		return false
	}
	j.notRead()
	if at.wrappers++; at.wrappers > maxWrappers {
		j.privileged("command could not be parsed", at.stmt)
		return true
	}
	at.wrapped = true
	own, inner := w.split(words[1:])
	j.pathArguments(at.stmt, name, own)
	switch name {
	case "command":
		if o := sortOptions(own); o.has("vV") {
			return true // it only says what the command would be
		}
	case "env":
		inner = j.env(at, own, inner)
	case "xargs":
		inner = arguments(own, inner)
	case "watch":
		j.joined(at, inner)
		return true
	case "parallel":
		j.parallel(at, own, inner)
		return true
	case "script":
		j.recorded(at, own)
		return true
	}
	if len(inner) > 0 {
		j.run(at, inner)
	}
	return true
}

// split parts the words of a wrapper from the command that it runs.
func (w wrapper) split(args []word) (own, inner []word) {
	i := 0
	for ; i < len(args); i++ {
		text := args[i].text
		if text == "--" {
			i++
			break
		}
		if len(text) < 2 || text[0] != '-' {
			break
		}
		if name, ok := strings.CutPrefix(text, "--"); ok {
			for _, long := range w.long {
				if name == long {
					i++
				}
			}
			continue
		}
		if at := strings.IndexAny(text[1:], w.values); w.values != "" && at == len(text)-2 {
			i++
		}
	}
	i = min(i+w.skip, len(args))
	return args[:i], args[i:]
}

// eval judges the text that eval would run in this shell.
func (j *judge) eval(at *site, args []word) {
	texts := make([]string, 0, len(args))
	for _, v := range args {
		if !v.static {
			j.unknown("runs computed text", at.stmt)
			return
		}
		texts = append(texts, v.text)
	}
	if len(texts) > 0 && texts[0] == "--" {
		texts = texts[1:]
	}
	j.script(strings.Join(texts, " "), j.nesting+1)
}

// env judges the variables that env sets, and returns the command behind them.
func (j *judge) env(at *site, own, inner []word) []word {
	for i, v := range own {
		option, value, joined := v.option(wrappers["env"].values)
		if !joined && i+1 < len(own) {
			value = own[i+1]
		}
		switch option {
		case "S", "split-string":
			j.splitString(at, value)
		case "C", "chdir":
			// Relative paths of the command start from there; what it does there is not looked at closer.
			j.at.lost = true
		}
	}
	for len(inner) > 0 {
		name, _, ok := strings.Cut(inner[0].text, "=")
		if !ok {
			break
		}
		j.variable(name, at.stmt)
		j.pathArgument(at.stmt, inner[0])
		inner = inner[1:]
	}
	return inner
}

// option reads a word as the option that takes a value: the long one, or the first letter of a group that takes one. joined
// reports that the value stands in the word too.
func (v word) option(values string) (name string, value word, joined bool) {
	if long, ok := strings.CutPrefix(v.text, "--"); ok {
		name, v.text, joined = strings.Cut(long, "=")
		return name, v, joined
	}
	if at := strings.IndexAny(v.text, values); at > 0 && v.text[0] == '-' {
		name, v.text = v.text[at:at+1], v.text[at+1:]
		return name, v, v.text != ""
	}
	return "", word{}, true
}

// splitString judges a text that is cut into a command line.
func (j *judge) splitString(at *site, v word) {
	if !v.static {
		j.unknown("runs computed text", at.stmt)
		return
	}
	j.apart(func() { j.script("env "+v.text, j.nesting+1) })
}

// arguments is the command that xargs runs: with one argument more that nobody knows, or with such ones where a mark stands.
func arguments(own, inner []word) []word {
	mark := ""
	for i, v := range own {
		option, value, joined := v.option(wrappers["xargs"].values + "i")
		switch option {
		case "I":
			if !joined && i+1 < len(own) {
				value = own[i+1]
			}
			mark = value.text
		case "i", "replace":
			if mark = value.text; !joined || mark == "" {
				mark = "{}"
			}
		}
	}
	out := make([]word, 0, len(inner)+1)
	for _, v := range inner {
		out = append(out, unknownAt(v, mark))
	}
	if mark == "" && len(out) > 0 {
		out = append(out, word{})
	}
	return out
}

// unknownAt makes a word unknown from where a mark stands in it.
func unknownAt(v word, mark string) word {
	if mark == "" {
		return v
	}
	if at := strings.Index(v.text, mark); at >= 0 {
		v.text, v.static = v.text[:at], false
	}
	return v
}

// joined judges a command that a wrapper hands to a shell as one text.
func (j *judge) joined(at *site, inner []word) {
	text, ok := j.joinedText(at, inner)
	if ok && text != "" {
		j.apart(func() { j.script(text, j.nesting+1) })
	}
}

// joinedText joins words that a shell reads again. It is false when the text isn't known.
func (j *judge) joinedText(at *site, inner []word) (string, bool) {
	texts := make([]string, 0, len(inner))
	for _, v := range inner {
		if !v.static {
			// The words that are known say what the command is; the text as a whole isn't known.
			j.unknown("runs computed text", at.stmt)
			j.run(at, inner)
			return "", false
		}
		texts = append(texts, v.text)
	}
	return strings.Join(texts, " "), true
}

// parallel judges a command that is run once for each argument, with the argument at its end or where its marks stand. A
// shell reads the text.
func (j *judge) parallel(at *site, own, inner []word) {
	inner, arguments, known := parallelArguments(own, inner)
	text, ok := j.joinedText(at, inner)
	if !ok {
		return
	}
	mark := func(argument string) string {
		if text == "" {
			return argument
		}
		if out := parallelMark.ReplaceAllLiteralString(text, argument); out != text {
			return out
		}
		return text + " " + argument
	}
	switch {
	case known:
		for _, v := range arguments {
			// The mark may stand between quotes or not; what is worse counts.
			quoted, err := syntax.Quote(v.text, syntax.LangBash)
			for _, form := range []string{v.text, quoted} {
				if err != nil || text == "" {
					form = v.text
				}
				j.apart(func() { j.script(mark(form), j.nesting+1) })
			}
		}
	case text == "":
		j.unknown("reads its commands from a pipe", at.stmt)
	default:
		if strings.Contains(text, "'") {
			j.unknown("runs computed text", at.stmt) // a mark between such quotes would pass as known
		}
		j.apart(func() { j.script(mark("$1"), j.nesting+1) })
	}
}

// parallelMark is where parallel puts the argument, or a part of it.
var parallelMark = regexp.MustCompile(`\{[-+0-9]*(?:[./#%]|//|/\.)*\}`)

// maxArguments is how many arguments of one parallel are looked at.
const maxArguments = 64

// parallelArguments parts the command from the arguments that are given with it. known reports that there are no others.
func parallelArguments(own, inner []word) (command, arguments []word, known bool) {
	at := slices.IndexFunc(inner, func(v word) bool { return strings.HasPrefix(v.text, ":::") })
	if at < 0 {
		return inner, nil, false
	}
	known = !slices.ContainsFunc(own, func(v word) bool {
		name, _, _ := v.option(wrappers["parallel"].values)
		return name == "a" || name == "arg-file" || name == "I"
	})
	for _, v := range inner[at:] {
		switch v.text {
		case ":::", ":::+":
		default:
			known = known && v.static && !strings.HasPrefix(v.text, "::::")
			arguments = append(arguments, v)
		}
	}
	return inner[:at], arguments, known && len(arguments) <= maxArguments
}

// recorded judges script -c.
func (j *judge) recorded(at *site, own []word) {
	for i, v := range own {
		switch text := v.text; {
		case strings.HasPrefix(text, "--command="):
			v.text = text[len("--command="):]
			j.runText(at, v)
		case text == "--command" || len(text) > 1 && text[0] == '-' && text[1] != '-' && strings.HasSuffix(text, "c"):
			if i+1 < len(own) {
				j.runText(at, own[i+1])
			}
		}
	}
	if j.input.kind == fromPipe {
		j.unknown("reads its commands from a pipe", at.stmt)
	}
}

// runText judges one word that is a script.
func (j *judge) runText(at *site, v word) {
	if !v.static {
		j.unknown("runs computed text", at.stmt)
		return
	}
	j.apart(func() { j.script(v.text, j.nesting+1) })
}

// find judges a search, and the commands that it runs on what it finds.
func (j *judge) find(at *site, args []word) {
	starts, tests := findStarts(args)
	j.pathArguments(at.stmt, "find", args)
	for i := 0; i < len(tests); i++ {
		switch text := tests[i].text; text {
		case "-delete":
			j.notRead()
			j.removal(at.stmt, starts)
		case "-exec", "-execdir", "-ok", "-okdir":
			j.notRead()
			end := i + 1
			for end < len(tests) && tests[end].text != ";" && tests[end].text != "+" {
				end++
			}
			inner := make([]word, 0, end-i)
			for _, v := range tests[i+1 : min(end, len(tests))] {
				v := unknownAt(v, "{}")
				v.found = !v.static
				inner = append(inner, v)
			}
			if len(inner) > 0 {
				j.execute(at, starts, inner)
			}
			i = end
		}
	}
	if !safe("find", args) {
		j.notRead()
	}
}

// execute judges the command of find -exec.
func (j *judge) execute(at *site, starts, inner []word) {
	if at.wrappers++; at.wrappers > maxWrappers {
		j.privileged("command could not be parsed", at.stmt)
		return
	}
	if inner[0].static && strings.EqualFold(commandName(inner[0].text), "rm") {
		j.removal(at.stmt, starts)
	}
	at.wrapped = true
	j.run(at, inner)
}

// findStarts parts the starting points of a find from its tests. Without any it starts where it runs.
func findStarts(args []word) (starts, tests []word) {
	i := 0
	for ; i < len(args); i++ {
		text := args[i].text
		if text == "-H" || text == "-L" || text == "-P" || strings.HasPrefix(text, "-O") {
			continue
		}
		if text == "-D" {
			i++
			continue
		}
		if text == "--" {
			continue
		}
		if text != "" && (text[0] == '-' || text == "(" || text == ")" || text == "!" || text == ",") {
			break
		}
		starts = append(starts, args[i])
	}
	i = min(i, len(args))
	if len(starts) == 0 {
		starts = []word{{text: ".", static: true}}
	}
	return starts, args[i:]
}

// removal judges what is removed with all that lies below it. A name in the workspace is what may be removed; a path is
// looked at.
func (j *judge) removal(n *syntax.Stmt, targets []word) {
	for _, v := range targets {
		absolute := filepath.IsAbs(v.text)
		switch {
		case v.home || v.static && v.other:
			j.forbid("recursive removal outside the workspace", n)
		case v.found:
			// It lies below where the search started, which was judged.
		case !v.static, j.at.lost && !absolute:
			j.unknownRemoval(n)
		case absolute || j.at.moved || hasParent(v.text):
			if p := j.look(v); p.outside || p.path == "" || j.above(p.path) {
				j.forbid("recursive removal outside the workspace", n)
			}
		}
	}
}

func (j *judge) unknownRemoval(n syntax.Node) {
	j.privileged("recursive removal of what is not known", n)
}
