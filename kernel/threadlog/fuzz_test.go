package threadlog_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crystalkernel/crystal/kernel/threadlog"
)

// FuzzLog reads any bytes as a log: reading never panics and changes nothing, every request is valid, and a log that opens
// goes on.
func FuzzLog(f *testing.F) {
	whole := lines(userLine, callsLine, startLine, resultLine, replyLine, endLine)
	f.Add(whole)
	f.Add(whole[:len(whole)-20])
	f.Add(whole + strings.Repeat("\x00", 9))
	f.Add(lines(`"type":"compaction","through":"i1","summary":{"kind":"message","role":"system","text":"s"}`, `"type":"prune","items":["i4"]`))
	f.Add(lines(`"type":"round","agent":"x","items":[{"kind":"tool_call","callId":"a"},null,7]`, `"type":"attachment"`))
	f.Add(lines(`"type":"turn","item":{"kind":"message","role":"user","text":"\ud83d","images":[{"number":9,"sha256":"zz"}]}`))
	f.Add("")
	f.Add("{}\n\x00")
	f.Add(strings.Replace(whole, `"seq":1,`, `"seq":9223372036854775807,`, 1))
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		home := t.TempDir()
		path := logPath(home, someID)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := threadlog.Disk(home)
		p, _, err := s.Read(ctx, someID)
		if err != nil {
			return
		}
		if problem := valid(p.Transcript()); problem != "" {
			t.Fatal(problem)
		}
		if problem := valid(p.Items()); problem != "" {
			t.Fatal(problem)
		}
		if _, _, err := s.List(ctx, threadlog.Filter{}); err != nil {
			t.Fatal(err)
		}
		l, _, err := s.Open(ctx, someID)
		if after := string(readLog(t, home, someID)); after != text {
			t.Fatal("reading changed the log")
		}
		if err != nil {
			return
		}
		if err := l.Append(turn("go on")); err != nil {
			t.Fatal(err)
		}
		want := request(t, l.Items())
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		again, _, err := s.Read(ctx, someID)
		if err != nil {
			t.Fatal(err)
		}
		again.State()
		if got := request(t, again.Items()[len(again.Items())-1:]); !strings.HasSuffix(want, got) {
			t.Fatalf("the last item is %q", got)
		}
	})
}
