package crystalcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/crystalkernel/crystal/internal/terminal"
)

// taskLimit is the largest task, in characters.
const taskLimit = 1_000_000

// errNoTask is returned when there is nothing to do.
var errNoTask = errors.New("there is no task: give it as an argument or over stdin, as in crystal run \"list the files\"")

// task is what a turn is to do.
type task struct {
	text    string // the whole
	command string // name of a slash command, without the slash; blank when the task is text
	rest    string // argument of the slash command
	piped   string // what came over stdin beside an argument
}

// readTask makes the task of arguments and stdin.
func (p *program) readTask(args []string, noStdin bool) (task, error) {
	argument := strings.Join(args, " ")
	alone := len(args) == 1 && args[0] == "-"
	if alone {
		argument = ""
	}
	var piped string
	if alone || !noStdin && !terminal.IsTerminal(p.stdin) {
		var err error
		if piped, err = readInput(p.stdin); err != nil {
			return task{}, err
		}
	}
	argument = clean(argument)
	t := task{text: argument, piped: piped}
	switch {
	case strings.TrimSpace(argument) == "":
		t.text, t.piped = piped, ""
	default:
		t.command, t.rest = slash(argument)
		t.text = joined(argument, piped)
	}
	return t, t.check()
}

// check reports a task that no turn can be made of.
func (t task) check() error {
	if strings.TrimSpace(t.text) == "" {
		return errNoTask
	}
	if utf8.RuneCountInString(t.text) > taskLimit {
		return fmt.Errorf("the task has more than %d characters; put what is long into a file and name it", taskLimit)
	}
	return nil
}

// joined appends what came over stdin after one blank line.
func joined(argument, piped string) string {
	if piped == "" {
		return argument
	}
	return strings.TrimRight(argument, " \t\n") + "\n\n" + piped
}

// expanded is the task with its slash command replaced by what it stands for.
func (t task) expanded(text string) string { return joined(text, t.piped) }

// readInput reads stdin whole. A closed one counts as empty.
func readInput(r io.Reader) (string, error) {
	if r == nil {
		return "", nil
	}
	// Four bytes make the longest character.
	data, err := io.ReadAll(io.LimitReader(r, 4*taskLimit+4))
	if err != nil && len(data) == 0 {
		return "", nil
	}
	text := clean(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))))
	text = strings.TrimRight(text, " \t\n\r\v\f\u0085\u00a0")
	if utf8.RuneCountInString(text) > taskLimit {
		return "", fmt.Errorf("stdin has more than %d characters; put what is long into a file and name it", taskLimit)
	}
	return text, nil
}

// clean makes text valid and its line ends LF.
func clean(text string) string {
	if !utf8.ValidString(text) {
		text = string([]rune(text)) // each byte that is no text becomes U+FFFD
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

// slashName is the form of a slash command; a path has a second slash and is text.
var slashName = `^/[A-Za-z][A-Za-z0-9_.:-]*$`

// slash takes the slash command off the beginning of an argument.
func slash(argument string) (name, rest string) {
	if !strings.HasPrefix(strings.TrimSpace(argument), "/") {
		return "", ""
	}
	word := strings.Fields(argument)[0]
	if ok, err := regexp.MatchString(slashName, word); err != nil || !ok {
		return "", ""
	}
	_, rest, _ = strings.Cut(strings.TrimSpace(argument), word)
	return word[1:], strings.TrimSpace(rest)
}
