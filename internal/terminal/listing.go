package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Format is how a listing is printed.
type Format string

// The formats.
const (
	Table Format = "table" // aligned, fitted to the terminal
	Text  Format = "text"  // aligned, nothing cut
	JSON  Format = "json"  // one object per line
)

// ParseFormat reads a format. The error names those that are known.
func ParseFormat(word string) (Format, error) {
	switch f := Format(word); f {
	case Table, Text, JSON:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q; use table, text or json", Line(word, 40))
}

// maxCell bounds one cell, so that a file can't flood a screen.
const maxCell = 500

// Listing is rows under a header. Cells are text from anywhere; they are cleaned when printed. A blank cell is unknown.
type Listing struct {
	Columns []string
	Rows    [][]string
	Records []any  // what JSON prints for each row
	Empty   string // the line that stands for no rows, except in JSON
}

// Yes is the cell of a boolean.
func Yes(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

// Print writes the listing.
func (l Listing) Print(s Stream, f Format) error {
	if f == JSON {
		return PrintJSON(s, l.Records...)
	}
	if len(l.Rows) == 0 {
		_, err := fmt.Fprintln(s.W, l.Empty)
		return err
	}
	rows := make([][]string, len(l.Rows))
	for i, row := range l.Rows {
		rows[i] = make([]string, len(row))
		for j, cell := range row {
			if rows[i][j] = Line(cell, maxCell); rows[i][j] == "" {
				rows[i][j] = "-"
			}
		}
	}
	widths := l.widths(rows)
	if f == Table && s.Width > 0 {
		shrink(widths, s.Width)
	}
	var b bytes.Buffer
	writeRow(&b, l.Columns, widths, func(text string) string { return s.Paint(Bold, text) }, f)
	for _, row := range rows {
		writeRow(&b, row, widths, func(text string) string { return text }, f)
	}
	_, err := s.W.Write(b.Bytes())
	return err
}

func (l Listing) widths(rows [][]string) []int {
	widths := make([]int, len(l.Columns))
	for i, c := range l.Columns {
		widths[i] = Width(c)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	return widths
}

const (
	gap      = "  "
	leastCol = 6 // cells that a column keeps when a table is fitted
)

// shrink takes cells from the widest columns until the row fits, or no column can give any more.
func shrink(widths []int, line int) {
	total := len(gap) * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > line; total-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= leastCol {
			return
		}
		widths[widest]--
	}
}

// writeRow writes one row; the last cell is not padded.
func writeRow(b *bytes.Buffer, row []string, widths []int, paint func(string) string, f Format) {
	var line strings.Builder
	for i, cell := range row {
		if f == Table {
			cell = fit(cell, widths[i])
		}
		if i == len(row)-1 {
			line.WriteString(paint(cell))
			break
		}
		line.WriteString(paint(cell) + strings.Repeat(" ", max(0, widths[i]-Width(cell))) + gap)
	}
	b.WriteString(line.String())
	b.WriteByte('\n')
}

// PrintJSON writes each record as one line of JSON.
func PrintJSON(s Stream, records ...any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, r := range records {
		if err := e.Encode(r); err != nil {
			return err
		}
	}
	_, err := s.W.Write(b.Bytes())
	return err
}

// Pair is one line of a card: a label and a value.
type Pair struct{ Label, Value string }

// PrintPairs writes one label and value per line, the values aligned.
func PrintPairs(s Stream, pairs ...Pair) error {
	widest := 0
	for _, p := range pairs {
		widest = max(widest, Width(p.Label))
	}
	var b bytes.Buffer
	for _, p := range pairs {
		value := Line(p.Value, maxCell)
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(&b, "%s%s%s\n", s.Paint(Bold, p.Label), strings.Repeat(" ", widest-Width(p.Label))+gap, value)
	}
	_, err := s.W.Write(b.Bytes())
	return err
}
