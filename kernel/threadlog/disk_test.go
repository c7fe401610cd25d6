package threadlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

func logPath(home, id string) string { return filepath.Join(home, "threads", id+".jsonl") }

func readLog(t testing.TB, home, id string) []byte {
	t.Helper()
	data, err := os.ReadFile(logPath(home, id))
	require.NoError(t, err)
	return data
}

const someID = "0123456789abcdef0123456789abcdef"

// written makes a home with a log of these lines.
func written(t testing.TB, text string) (home string, s *threadlog.DiskStore) {
	t.Helper()
	home = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, "threads"), 0o700))
	require.NoError(t, os.WriteFile(logPath(home, someID), []byte(text), 0o600))
	return home, threadlog.Disk(home)
}

// lines of a log that was written by hand.
func lines(bodies ...string) string {
	var b strings.Builder
	for i, body := range append([]string{`"type":"thread","schema":1,"id":"` + someID + `","workspace":"/w"`}, bodies...) {
		fmt.Fprintf(&b, "{\"seq\":%d,\"time\":\"2026-01-02T03:04:%02d.000000Z\",%s}\n", i+1, i%60, body)
	}
	return b.String()
}

const (
	userLine   = `"type":"turn","turn":"t1","item":{"id":"i1","kind":"message","role":"user","text":"hi"}`
	callsLine  = `"type":"round","turn":"t1","round":1,"items":[{"id":"i2","kind":"tool_call","callId":"a","name":"read","arguments":"{}"},{"id":"i3","kind":"tool_call","callId":"b","name":"read","arguments":"{}"}]`
	startLine  = `"type":"call","turn":"t1","callId":"b","effective":{"name":"read","arguments":"{}"}`
	resultLine = `"type":"result","turn":"t1","callId":"a","item":{"id":"i4","kind":"tool_result","callId":"a","text":"A","status":"success"}`
	replyLine  = `"type":"round","turn":"t1","round":2,"items":[{"id":"i5","kind":"message","role":"assistant","text":"bye"}]`
	endLine    = `"type":"turn_end","turn":"t1","stop":"completed","modelCalls":2,"toolCalls":1,"denials":0`
)

func reopen(t testing.TB, s threadlog.Store) (*threadlog.Log, []threadlog.Note) {
	t.Helper()
	l, notes, err := s.Open(t.Context(), someID)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	return l, notes
}

func codes(notes []threadlog.Note) []string {
	out := []string{}
	for _, n := range notes {
		out = append(out, n.Code)
	}
	return out
}

func TestACallWithoutAResult(t *testing.T) { // FIELD-S1, FIELD-H12
	for _, c := range []struct{ name, log, want string }{
		{"started", lines(userLine, callsLine, resultLine, startLine), "had started and"},
		{"not started", lines(userLine, callsLine, resultLine), "before the tool had started"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, s := written(t, c.log)
			l, notes := reopen(t, s)
			assert.Equal(t, []string{threadlog.ThreadRepaired}, codes(notes))
			assert.Equal(t, c.log, string(readLog(t, home, someID)), "opening changes nothing")
			items := l.Items()
			require.Len(t, items, 5)
			assert.Equal(t, "A", items[3].Text)
			assert.Equal(t, model.Interrupted, items[4].Status)
			assert.Contains(t, items[4].Text, c.want)

			add(t, l, turn("go on"))
			after := readLog(t, home, someID)
			assert.True(t, bytes.HasPrefix(after, []byte(c.log)), "the old lines are byte-identical")
			more := strings.Split(strings.TrimSpace(string(after[len(c.log):])), "\n")
			require.Len(t, more, 4)
			assert.Contains(t, more[0], `"type":"repair","closed":["b"]`)
			assert.Contains(t, more[1], `"code":"tool_interrupted"`)
			assert.Contains(t, more[2], `"type":"turn_end","turn":"t1","stop":"interrupted","modelCalls":1`)
			assert.Contains(t, more[3], `"type":"turn"`)
			assert.Equal(t, append(show(items), "user: go on"), show(l.Items()))

			p, notes, err := s.Read(t.Context(), someID)
			require.NoError(t, err)
			assert.Empty(t, notes)
			assert.Equal(t, show(l.Items()), show(p.Items()))
		})
	}
}

func TestAFinishedCallIsFinished(t *testing.T) { // FIELD-S4
	b := strings.NewReplacer(`"a"`, `"b"`, "i4", "i6", `"A"`, `"B"`).Replace(resultLine)
	_, s := written(t, lines(userLine, callsLine, startLine, b, resultLine))
	l, _ := reopen(t, s)
	add(t, l, turn("go on"))
	assert.Equal(t, []string{"success a: A", "success b: B", "user: go on"}, show(l.Items())[3:])
}

func TestAResultWithoutACall(t *testing.T) { // FIELD-S2
	log := lines(resultLine, userLine, replyLine, endLine)
	home, s := written(t, log)
	l, notes := reopen(t, s)
	assert.Equal(t, []string{threadlog.ThreadRecordSkipped}, codes(notes))
	assert.Equal(t, []string{"user: hi", "assistant: bye"}, show(l.Items()))
	add(t, l, turn("go on"))
	assert.True(t, strings.HasPrefix(string(readLog(t, home, someID)), log))
}

func TestSeveralResultsForOneCall(t *testing.T) { // FIELD-S3
	other := strings.Replace(resultLine, `"text":"A"`, `"text":"other"`, 1)
	b := strings.NewReplacer(`"a"`, `"b"`, "i4", "i6").Replace(resultLine)
	for _, log := range []string{
		lines(userLine, callsLine, resultLine, resultLine, b, endLine),
		lines(userLine, callsLine, resultLine, b, other, endLine),
	} {
		home, s := written(t, log)
		l, notes := reopen(t, s)
		assert.Empty(t, notes)
		assert.Equal(t, []string{"success a: A", "success b: A"}, show(l.Items())[3:])
		add(t, l, turn("go on"))
		assert.True(t, strings.HasPrefix(string(readLog(t, home, someID)), log))
	}
}

func TestOneIDInTwoTurnsIsTwoCalls(t *testing.T) { // FIELD-G3
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			for _, file := range []string{"a", "b"} {
				add(t, l, turn(file), round(call("call_1", "read", file)), answer("call_1", file), round(reply("ok")), end())
			}
			want := []string{
				"user: a", "call call_1 read a", "success call_1: a", "assistant: ok",
				"user: b", "call call_1 read b", "success call_1: b", "assistant: ok",
			}
			assert.Equal(t, want, show(l.Items()))
			require.NoError(t, l.Close())
			p, _, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Equal(t, want, show(p.Items()))
		})
	}
}

func TestUnknownRecordsAreSkippedAndStay(t *testing.T) { // FIELD-S9
	log := lines(userLine, replyLine, endLine, `"type":"attachment"`, `"type":"from_the_future","x":[1]`, userLine, replyLine, endLine)
	home, s := written(t, log)
	l, notes := reopen(t, s)
	require.Equal(t, []string{threadlog.ThreadRecordSkipped}, codes(notes))
	assert.Contains(t, notes[0].Message, "line 5, 6")
	assert.Equal(t, []string{"user: hi", "assistant: bye", "user: hi", "assistant: bye"}, show(l.Items()))
	add(t, l, turn("go on"))
	after := readLog(t, home, someID)
	assert.True(t, bytes.HasPrefix(after, []byte(log)))
	assert.Contains(t, string(after[len(log):]), `{"seq":10,`)
}

func TestUnreadableThingsInTheMiddle(t *testing.T) {
	for _, c := range []struct{ name, line, noted string }{
		{"no object", "[1]", "line 3"},
		{"garbage", "{\"seq\":", "line 3"},
		{"NUL bytes", strings.Repeat("\x00", 64), "line 3"},
		{"empty", "", "line 3"},
		{"a turn without a message", `{"seq":3,"type":"turn","turn":"t1"}`, "line 3"},
		{"a result of another form", `{"seq":3,"type":"result","callId":1,"item":"x"}`, "line 3"},
		{"a type that is no word", `{"seq":3,"type":7}`, "line 3"},
		{"a round with unreadable items", `{"seq":3,"type":"round","items":[{"kind":"hologram"},null,{"kind":"message","role":"assistant","text":5}]}`, "line 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := strings.SplitAfter(lines(userLine, replyLine, endLine), "\n")
			log := all[0] + all[1] + c.line + "\n" + all[2] + all[3]
			home, s := written(t, log)
			l, notes := reopen(t, s)
			require.Equal(t, []string{threadlog.ThreadRecordSkipped}, codes(notes))
			assert.Contains(t, notes[0].Message, c.noted)
			assert.Equal(t, []string{"user: hi", "assistant: bye"}, show(l.Items()))
			add(t, l, turn("go on"))
			assert.True(t, bytes.HasPrefix(readLog(t, home, someID), []byte(log)))
		})
	}
}

func TestTheReadableItemsOfARoundAreKept(t *testing.T) {
	_, s := written(t, lines(userLine,
		`"type":"round","turn":"t1","round":1,"items":[{"id":"i2","kind":"message","role":"assistant","text":"good"},{"kind":"message","role":"wizard","text":"x"},{"id":"i4","kind":"tool_call","callId":3},{"id":"i5","kind":"tool_call","callId":"c","name":"n","later":true}]`,
		endLine))
	l, notes := reopen(t, s)
	assert.Equal(t, []string{threadlog.ThreadRecordSkipped}, codes(notes))
	items := show(l.Items())
	require.Len(t, items, 4)
	assert.Equal(t, []string{"user: hi", "assistant: good", "call c n "}, items[:3])
	assert.Equal(t, "i6", l.NextItemID())
}

func TestHalfACharacterFromAHand(t *testing.T) { // FIELD-K1
	_, s := written(t, lines(strings.Replace(userLine, `"hi"`, `"a\ud83d`+"\xff"+`b"`, 1), endLine))
	l, notes := reopen(t, s)
	assert.Empty(t, notes)
	assert.Equal(t, []string{"user: a\uFFFD\uFFFDb"}, show(l.Items()))
}

func TestATornTail(t *testing.T) { // FIELD-T1
	whole := lines(userLine, replyLine, endLine)
	for _, c := range []struct{ name, tail string }{
		{"half a record", `{"type":"mess`},
		{"NUL bytes", strings.Repeat("\x00", 64)},
		{"NUL bytes and an end of line", strings.Repeat("\x00", 64) + "\n"},
		{"a whole record without its end", `{"seq":5,"type":"turn_end","turn":"t1","stop":"completed"}`},
		{"no object", "nonsense\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, s := written(t, whole+c.tail)
			p, notes, err := s.Read(t.Context(), someID)
			require.NoError(t, err)
			assert.Equal(t, []string{threadlog.ThreadRepaired}, codes(notes))
			want := []string{"user: hi", "assistant: bye"}
			assert.Equal(t, want, show(p.Items()))
			l, notes := reopen(t, s)
			assert.Equal(t, []string{threadlog.ThreadRepaired}, codes(notes))
			assert.Equal(t, want, show(l.Items()))
			assert.Equal(t, whole+c.tail, string(readLog(t, home, someID)), "reading changes no byte")

			add(t, l, turn("go on"))
			after := string(readLog(t, home, someID))
			require.True(t, strings.HasPrefix(after, whole))
			more := strings.Split(strings.TrimSpace(after[len(whole):]), "\n")
			require.Len(t, more, 2)
			assert.Contains(t, more[0], fmt.Sprintf(`"type":"repair","cut":%d,"saved":"%s.torn-`, len(c.tail), someID))
			saved, err := filepath.Glob(filepath.Join(home, "threads", someID+".torn-*"))
			require.NoError(t, err)
			require.Len(t, saved, 1)
			assert.Contains(t, more[0], filepath.Base(saved[0]))
			torn, err := os.ReadFile(saved[0])
			require.NoError(t, err)
			assert.Equal(t, c.tail, string(torn))
			assert.Equal(t, append(want, "user: go on"), show(l.Items()))
		})
	}
}

func TestATailBehindABadLine(t *testing.T) {
	whole := lines(userLine, endLine) + "bad line\n"
	home, s := written(t, whole+"{\"half")
	l, notes := reopen(t, s)
	assert.ElementsMatch(t, []string{threadlog.ThreadRecordSkipped, threadlog.ThreadRepaired}, codes(notes))
	add(t, l, turn("go on"))
	assert.True(t, strings.HasPrefix(string(readLog(t, home, someID)), whole), "only the last line is the tail")
}

func TestWhatIsNoThread(t *testing.T) { // FIELD-T1, FIELD-S7
	for name, text := range map[string]string{
		"empty": "", "random": "\x8f\x00\xff\x13\n\x77", "another record first": lines(userLine)[strings.Index(lines(userLine), "\n")+1:],
		"torn in its first line": lines()[:40], "a number": "7\n", "first line without an end": strings.TrimSpace(lines()),
	} {
		t.Run(name, func(t *testing.T) {
			home, s := written(t, text)
			entries, notes, err := s.List(t.Context(), threadlog.Filter{})
			require.NoError(t, err)
			assert.Empty(t, entries)
			assert.Equal(t, []string{threadlog.ThreadDamaged}, codes(notes))
			_, _, err = s.Open(t.Context(), someID)
			require.ErrorIs(t, err, threadlog.ErrDamaged)
			_, _, err = s.Read(t.Context(), someID)
			require.ErrorIs(t, err, threadlog.ErrDamaged)
			assert.Equal(t, text, string(readLog(t, home, someID)))
		})
	}
}

func TestReadingDeletesNothing(t *testing.T) { // FIELD-S7
	home := t.TempDir()
	s := threadlog.Disk(home)
	l := create(t, s)
	add(t, l, turn("hi"), end())
	require.NoError(t, l.Close())
	dir := filepath.Join(home, "threads")
	require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("a", 32)+".jsonl"), nil, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, strings.Repeat("b", 32)+".jsonl"), []byte("\x01\x02random"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.jsonl"), nil, 0o600))
	before := tree(t, home)

	l, _, err := s.Open(t.Context(), l.ID())
	require.NoError(t, err)
	require.NoError(t, l.Close())
	entries, notes, err := s.List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	assert.Equal(t, []string{threadlog.ThreadDamaged, threadlog.ThreadDamaged}, codes(notes))
	assert.Equal(t, before, tree(t, home))
}

// tree lists the files under a directory with their contents.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, _ := os.ReadFile(path)
			files[path] = string(data)
		}
		return err
	}))
	return files
}

func TestALogOfANewerHost(t *testing.T) {
	home, s := written(t, strings.Replace(lines(userLine, replyLine, endLine), `"schema":1`, `"schema":2`, 1))
	before := tree(t, home)
	_, _, err := s.Open(t.Context(), someID)
	require.ErrorIs(t, err, threadlog.ErrSchemaNewer)
	_, err = s.Fork(t.Context(), someID, "")
	require.ErrorIs(t, err, threadlog.ErrSchemaNewer)
	p, _, err := s.Read(t.Context(), someID)
	require.NoError(t, err)
	assert.Len(t, p.Items(), 2)
	entries, _, err := s.List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.True(t, entries[0].Newer)
	var out bytes.Buffer
	_, err = threadlog.Export(t.Context(), s, someID, threadlog.JSONL, &out)
	require.NoError(t, err)
	assert.Equal(t, string(readLog(t, home, someID)), out.String())
	after := tree(t, home)
	delete(after, filepath.Join(home, "threads", someID+".lock"))
	assert.Equal(t, before, after)
}

func TestALineThatIsTooLong(t *testing.T) {
	long := `{"type":"title","text":"` + strings.Repeat("x", 64<<20) + "\"}\n"
	all := strings.SplitAfter(lines(userLine, replyLine, endLine), "\n")
	_, s := written(t, all[0]+all[1]+long+all[2]+all[3])
	p, notes, err := s.Read(t.Context(), someID)
	require.NoError(t, err)
	require.Equal(t, []string{threadlog.ThreadRecordSkipped}, codes(notes))
	assert.Contains(t, notes[0].Message, "line 3")
	assert.Equal(t, []string{"user: hi", "assistant: bye"}, show(p.Items()))
}

func TestAResultIsStoredOnce(t *testing.T) { // FIELD-J9
	home := t.TempDir()
	l := create(t, threadlog.Disk(home))
	add(t, l, turn("go"), round(call("a", "big", "{}")))
	before := len(readLog(t, home, l.ID()))
	add(t, l, &threadlog.Call{Turn: "t1", CallID: "a", Effective: threadlog.Effective{Name: "big", Arguments: "{}"}},
		answer("a", strings.Repeat("x", 100000)))
	assert.Less(t, len(readLog(t, home, l.ID()))-before, 120000)
	require.NoError(t, l.Close())
}

func TestARequestIsTheSameAfterResuming(t *testing.T) { // FIELD-G5
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			add(t, l, turn("go <&> \u2028 \xff"),
				round(
					&model.Item{
						Kind: model.Reasoning, Segments: []model.Segment{{Text: "hm", Kind: model.SegmentSummary}},
						State: &model.State{Format: "anthropic", Data: []byte{0, 1, 0xff}, Provider: "p"},
					},
					call("a", "read", `{"path": "a\u0000"}`), call("b", "read", `not json`), call("c", "read", ``)),
				answer("c", "C"), answer("a", "A"), answer("b", "B"), round(reply("done")), end())
			before := request(t, l.Items())
			require.NoError(t, l.Close())
			again, _, err := s.Open(t.Context(), l.ID())
			require.NoError(t, err)
			assert.Equal(t, before, request(t, again.Items()))
			assert.Equal(t, before, request(t, again.Items()), "twice from one state")
			require.NoError(t, again.Close())
		})
	}
}

// request writes items as bytes.
func request(t testing.TB, items []*model.Item) string {
	t.Helper()
	var b strings.Builder
	for _, it := range items {
		fmt.Fprintf(&b, "%q %q %q %q %q %q %q %q %v %+v", it.ID, it.Kind, it.Role, it.Text, it.CallID, it.Name, it.Arguments,
			it.Status, it.Segments, it.Images)
		if it.State != nil {
			fmt.Fprintf(&b, " %+v", *it.State)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
