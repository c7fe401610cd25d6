package home

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crystalkernel/crystal/internal/terminal"
)

// Command is a slash command from a markdown file.
type Command struct {
	Name        string // path below commands/, lowered, with ":" between its parts
	Owner       string // workspace or user
	Aliases     []string
	Description string
	Body        string
	Path        string
}

// Owners of markdown commands.
const (
	OwnerWorkspace = "workspace"
	OwnerUser      = "user"
)

// maxFirstLine is how many characters of its first line describe a command without a description.
const maxFirstLine = 80

// commandLimit is the size of the largest command file.
const commandLimit = 256 << 10

var (
	commandName = regexpOnce(`^[a-z][a-z0-9_:-]{0,63}$`)
	aliasName   = regexpOnce(`^[A-Za-z][A-Za-z0-9_:-]{0,63}$`)
)

// Commands reads the markdown commands of a project tree and of home, those of the tree first. A blank tree has none.
func Commands(h Dir, tree string) (list []Command, notes []Note) {
	if tree != "" {
		list, notes = commands(filepath.Join(tree, "commands"), OwnerWorkspace, filepath.Dir(tree))
	}
	more, moreNotes := commands(h.Path("commands"), OwnerUser, h.Path("commands"))
	return append(list, more...), append(notes, moreNotes...)
}

// commands reads one tree of command files. No link may leave fence.
func commands(root, owner, fence string) (list []Command, notes []Note) {
	if real, err := filepath.EvalSymlinks(fence); err == nil {
		fence = real
	}
	_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // a directory that can't be read has no commands
		case path != root && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case e.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md"):
			return nil
		}
		c, err := readCommand(root, path, owner, fence)
		if err != nil {
			n := warning(CommandFileInvalid, fmt.Sprintf("the command file %s is skipped: %v", path, err))
			notes = append(notes, n)
			return nil
		}
		if i := slices.IndexFunc(list, func(o Command) bool { return o.Name == c.Name }); i >= 0 {
			notes = append(notes, warning(CommandFileInvalid,
				fmt.Sprintf("the command file %s is skipped: %s defines the command %s already", path, list[i].Path, c.Name)))
			return nil
		}
		list = append(list, c)
		return nil
	})
	return list, notes
}

func readCommand(root, path, owner, fence string) (Command, error) {
	c := Command{Owner: owner, Path: path}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return c, err
	}
	rel = filepath.ToSlash(rel)
	c.Name = strings.ReplaceAll(strings.ToLower(rel[:len(rel)-len(".md")]), "/", ":")
	if !commandName(c.Name) {
		return c, fmt.Errorf("%q is no name of a command", c.Name)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return c, err
	}
	if !inside(fence, real) {
		return c, errors.New("it leads out of its tree")
	}
	if err := readable(real); err != nil {
		return c, err
	}
	f, err := os.Open(real)
	if err != nil {
		return c, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, commandLimit+1))
	if err != nil {
		return c, err
	}
	if len(text) > commandLimit {
		return c, fmt.Errorf("it is larger than %d bytes", commandLimit)
	}
	return c, c.parse(text)
}

// parse takes front matter and body.
func (c *Command) parse(text []byte) error {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), []byte("\r\n"), []byte("\n"))
	front, body := frontMatter(text)
	var meta struct {
		Description string   `yaml:"description"`
		Aliases     []string `yaml:"aliases"`
	}
	if err := yaml.Unmarshal(front, &meta); err != nil {
		return fmt.Errorf("its front matter can't be read: %w", err)
	}
	c.Body = strings.TrimSpace(strings.ToValidUTF8(string(body), "\ufffd"))
	if c.Body == "" {
		return errors.New("it has no body")
	}
	c.Description = meta.Description
	if c.Description == "" {
		first, _, _ := strings.Cut(c.Body, "\n")
		c.Description = terminal.Line(first, maxFirstLine)
	}
	for _, a := range meta.Aliases {
		if a = strings.ToLower(strings.TrimPrefix(a, "/")); aliasName(a) {
			c.Aliases = append(c.Aliases, a)
		}
	}
	return nil
}

// frontMatter splits a file into its front matter, which may be empty, and the rest.
func frontMatter(text []byte) (front, body []byte) {
	rest, ok := bytes.CutPrefix(text, []byte("---\n"))
	if !ok {
		return nil, text
	}
	if front, body, ok = bytes.Cut(rest, []byte("\n---\n")); ok {
		return front, body
	}
	if front, ok = bytes.CutSuffix(rest, []byte("\n---")); ok {
		return front, nil
	}
	if body, ok = bytes.CutPrefix(rest, []byte("---\n")); ok {
		return nil, body
	}
	return nil, text
}

// Expand returns the text of a turn: the body with $ARGUMENTS and $1 to $9 replaced. Values are inserted once and never
// looked at again; bind, which may be nil, is given each piece of the body that did not come from the arguments.
func (c Command) Expand(argument string, bind func(string) string) string {
	if bind == nil {
		bind = func(s string) string { return s }
	}
	words := splitWords(argument)
	var out, piece strings.Builder
	flush := func() {
		if piece.Len() > 0 {
			out.WriteString(bind(piece.String()))
			piece.Reset()
		}
	}
	for rest := c.Body; rest != ""; {
		at := strings.IndexByte(rest, '$')
		if at < 0 {
			piece.WriteString(rest)
			break
		}
		piece.WriteString(rest[:at])
		rest = rest[at:]
		if after, ok := strings.CutPrefix(rest, "$ARGUMENTS"); ok {
			flush()
			out.WriteString(argument)
			rest = after
			continue
		}
		if len(rest) > 1 && rest[1] >= '1' && rest[1] <= '9' && int(rest[1]-'1') < len(words) {
			flush()
			out.WriteString(words[rest[1]-'1'])
			rest = rest[2:]
			continue
		}
		piece.WriteByte('$')
		rest = rest[1:]
	}
	flush()
	return out.String()
}

// splitWords splits an argument at white space; single and double quotes group.
func splitWords(text string) []string {
	var words []string
	var b strings.Builder
	var quote rune
	open := false
	for _, r := range text {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && strings.ContainsRune(" \t\n", r):
			if open {
				words = append(words, b.String())
				b.Reset()
			}
			open = false
		default:
			b.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, b.String())
	}
	return words
}
