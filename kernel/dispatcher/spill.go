package dispatcher

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxSpill is how much of a text is kept in its file, in bytes.
const maxSpill = 64 << 20

// spill keeps long texts whole in files below a home directory. Without a home it keeps nothing.
type spill struct{ home string }

// bound returns text when it has at most limit characters. Else it keeps the first 80 and the last 16 hundredths of the
// limit, with one line between them, and writes the whole to a file, whose path it returns.
func (s spill) bound(text string, limit int, thread, call string) (bounded, path string) {
	if len(text) <= limit {
		return text, ""
	}
	count := utf8.RuneCountInString(text)
	if count <= limit {
		return text, ""
	}
	first, last := limit*80/100, limit*16/100
	head := text[:byteOf(text, first)]
	tail := text[byteOf(text, count-last):]
	path, kept, err := s.write(text, thread, call)
	line := "[" + thousands(count-first-last) + " characters were left out here; "
	switch {
	case s.home == "":
		line += "they were not kept]"
	case err != nil:
		line, path = line+"the whole could not be written to a file]", ""
	case kept < len(text):
		line += "the first " + thousands(kept>>20) + " MiB are in " + path + ", more was dropped]"
	default:
		line += "the whole is in " + path + "]"
	}
	return head + "\n" + line + "\n" + tail, path
}

// byteOf returns where the nth character of s begins.
func byteOf(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

// write puts the text into its file, which only the owner may read. It returns how many bytes were kept.
func (s spill) write(text, thread, call string) (path string, kept int, err error) {
	if s.home == "" {
		return "", 0, nil
	}
	dir := filepath.Join(s.home, "spill", fileName(thread))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", 0, fmt.Errorf("dispatcher: making the directory of a long result: %w", err)
	}
	path = filepath.Join(dir, fileName(call)+".txt")
	text = firstBytes(text, maxSpill)
	// An id may come again in a later turn. The file is made anew, so that nothing that lies there is followed.
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return "", 0, fmt.Errorf("dispatcher: replacing a long result: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, fmt.Errorf("dispatcher: writing a long result: %w", err)
	}
	_, err = f.WriteString(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", 0, fmt.Errorf("dispatcher: writing a long result: %w", err)
	}
	return path, len(text), nil
}

// firstBytes returns at most n bytes of s, cut between characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fileName makes a file name of an id, which a model may have chosen. What is no plain name gets a piece of its hash, so
// that two ids never share a file.
func fileName(id string) string {
	plain := id != "" && len(id) <= 100 && strings.Trim(id, ".") != ""
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.' {
			return r
		}
		plain = false
		return '_'
	}, id)
	if plain {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return strings.TrimLeft(name[:min(len(name), 60)], ".") + "_" + hex.EncodeToString(sum[:6])
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
