package threadlog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/crystalkernel/crystal/points/model"
)

// Format is a form in which a thread is exported.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // the records as stored
	JSON     Format = "json"     // one object: thread, items, turns, usage
	Markdown Format = "markdown" // for people
)

// Export writes a thread to w. A log on disk is copied byte for byte as [JSONL]; what is torn at its end stays out. It
// fails with [ErrFormat] for an unknown format. Notes are those of reading.
func Export(ctx context.Context, s Store, id string, f Format, w io.Writer) ([]Note, error) {
	if disk, ok := s.(*DiskStore); ok && f == JSONL {
		path, err := disk.find(id)
		if err == nil {
			err = copyLog(path, w)
		}
		if err != nil {
			return nil, fmt.Errorf("export thread %s: %w", id, err)
		}
		return nil, nil
	}
	p, notes, err := s.Read(ctx, id)
	if err != nil {
		return notes, fmt.Errorf("export: %w", err)
	}
	switch f {
	case JSONL:
		err = p.writeRecords(w)
	case JSON:
		err = p.writeJSON(w)
	case Markdown:
		err = p.writeMarkdown(w)
	default:
		err = fmt.Errorf("%w %q: use jsonl, json or markdown", ErrFormat, f)
	}
	if err != nil {
		return notes, fmt.Errorf("export thread %s: %w", id, err)
	}
	return notes, nil
}

// copyLog writes the whole lines of a log to w.
func copyLog(path string, w io.Writer) error {
	r, err := readFile(path, func(line) error { return nil })
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, io.NewSectionReader(f, 0, r.keep))
	return err
}

func (p *Picture) writeRecords(w io.Writer) error {
	e := newEncoder()
	for _, r := range p.records {
		e.buf.Reset()
		if err := e.add(r); err != nil {
			return err
		}
		if _, err := w.Write(e.buf.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// exported is the form of a JSON export.
type exported struct {
	Thread exportedThread `json:"thread"`
	Items  []*model.Item  `json:"items"`
	Turns  []exportedTurn `json:"turns"`
	Usage  model.Usage    `json:"usage"` // sum of the turns
}

type exportedThread struct {
	*Thread
	Title string `json:"title,omitempty"`
}

type exportedTurn struct {
	Turn     string `json:"turn"`
	Mode     string `json:"mode,omitempty"`
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Item     string `json:"item"` // id of the user message
	*TurnEnd
}

func (p *Picture) writeJSON(w io.Writer) error {
	out := exported{Thread: exportedThread{Thread: &p.state.Thread, Title: p.state.Title}, Items: p.Transcript()}
	for _, r := range p.records {
		switch r := r.(type) {
		case *Turn:
			out.Turns = append(out.Turns, exportedTurn{
				Turn: r.Turn, Mode: r.Mode, Provider: r.Provider, Model: r.Model, Item: r.Item.ID,
			})
		case *TurnEnd:
			if n := len(out.Turns); n > 0 && out.Turns[n-1].TurnEnd == nil {
				out.Turns[n-1].TurnEnd = r
			}
			add(&out.Usage, r.Usage)
		}
	}
	if n := len(out.Turns); n > 0 && out.Turns[n-1].TurnEnd == nil {
		for _, r := range newTranscript(p.records).closing() {
			if end, ok := r.(*TurnEnd); ok {
				out.Turns[n-1].TurnEnd = end
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func newTranscript(records []Record) *transcript {
	t := new(transcript)
	for _, r := range records {
		t.feed(r)
	}
	return t
}

// add adds one usage to another.
func add(sum, u *model.Usage) {
	if u == nil {
		return
	}
	sum.Input += u.Input
	sum.Output += u.Output
	sum.Reasoning += u.Reasoning
	sum.CacheRead += u.CacheRead
	sum.CacheWrite += u.CacheWrite
	sum.Total += u.Total
	sum.Estimated = sum.Estimated || u.Estimated
}
