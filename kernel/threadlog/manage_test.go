package threadlog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/kernel/threadlog"
	"github.com/crystalkernel/crystal/points/model"
)

const png = "\x89PNG\r\n\x1a\n and so on"

func TestTheSecondWriterIsToldWhoTheFirstIs(t *testing.T) { // THREAD-5
	home := t.TempDir()
	s := threadlog.Disk(home)
	l := create(t, s)
	add(t, l, turn("hi"))
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		_, _, err := threadlog.Disk(home).Open(t.Context(), l.ID())
		require.ErrorIs(t, err, threadlog.ErrInUse)
		var in *threadlog.InUseError
		require.ErrorAs(t, err, &in)
		assert.Equal(t, os.Getpid(), in.Process)
		assert.NotEmpty(t, in.Since)
		assert.Equal(t, 2*time.Second, time.Since(begin).Round(100*time.Millisecond))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = s.Open(ctx, l.ID())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, threadlog.ErrInUse)
	})
	p, _, err := s.Read(t.Context(), l.ID())
	require.NoError(t, err, "readers need no lock")
	assert.Len(t, p.Items(), 1)
	entries, _, err := s.List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	assert.True(t, entries[0].InUse)
	require.NoError(t, l.Close())
	entries, _, err = s.List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	assert.False(t, entries[0].InUse)
	again, _, err := s.Open(t.Context(), l.ID())
	require.NoError(t, err)
	require.NoError(t, again.Close())

	memory := threadlog.Memory()
	m := create(t, memory)
	add(t, m, turn("hi"))
	_, _, err = memory.Open(t.Context(), m.ID())
	require.ErrorIs(t, err, threadlog.ErrInUse)
}

func TestTwoThreadsLeaveEachOtherAlone(t *testing.T) { // FIELD-T6
	home := t.TempDir()
	a, b := create(t, threadlog.Disk(home)), create(t, threadlog.Disk(home))
	add(t, a, turn("a"))
	add(t, b, turn("b"))
	add(t, a, end())
	add(t, b, end())
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	assert.NotContains(t, string(readLog(t, home, a.ID())), `"text":"b"`)
	assert.NotContains(t, string(readLog(t, home, b.ID())), `"text":"a"`)
}

func TestListings(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			var ids []string
			for _, text := range []string{"first", "second", "third"} {
				l := create(t, s)
				add(t, l, turn(text), end())
				require.NoError(t, l.Close())
				ids = append(ids, l.ID())
			}
			other, err := s.Create(t.Context(), threadlog.Header{Workspace: "/other"})
			require.NoError(t, err)
			add(t, other, turn("x"))
			require.NoError(t, other.Close())
			require.NoError(t, threadlog.Rename(t.Context(), s, ids[0], " new \x1b]0;evil\x07 name"+strings.Repeat("é", 100)))

			entries, notes, err := s.List(t.Context(), threadlog.Filter{Workspace: "/w"})
			require.NoError(t, err)
			assert.Empty(t, notes)
			require.Len(t, entries, 3)
			assert.Equal(t, []string{ids[0], ids[2], ids[1]}, []string{entries[0].ID, entries[1].ID, entries[2].ID})
			assert.Equal(t, "new name"+strings.Repeat("é", 72), entries[0].Title)
			assert.Equal(t, "third", entries[1].Title)
			assert.Equal(t, 1, entries[1].Turns)
			assert.Equal(t, "work", entries[1].Mode)
			assert.False(t, entries[1].Updated.IsZero())
			entries, _, err = s.List(t.Context(), threadlog.Filter{Limit: 2})
			require.NoError(t, err)
			assert.Len(t, entries, 2)

			e, err := threadlog.Find(t.Context(), s, ids[1][:20])
			require.NoError(t, err)
			assert.Equal(t, ids[1], e.ID)
			for _, prefix := range []string{"", "abc", "../.", "zzzz"} {
				_, err = threadlog.Find(t.Context(), s, prefix)
				require.ErrorIs(t, err, threadlog.ErrNotFound, prefix)
			}
		})
	}
}

func TestAPrefixOfSeveralThreadsNamesThem(t *testing.T) {
	home, s := written(t, lines(userLine))
	second := "0123ffff" + strings.Repeat("0", 24)
	require.NoError(t, os.WriteFile(logPath(home, second), []byte(strings.Replace(lines(userLine), someID, second, 1)), 0o600))
	_, err := threadlog.Find(t.Context(), s, "0123")
	require.ErrorIs(t, err, threadlog.ErrAmbiguous)
	assert.Contains(t, err.Error(), someID)
	assert.Contains(t, err.Error(), second)
	e, err := threadlog.Find(t.Context(), s, "0123F")
	require.NoError(t, err)
	assert.Equal(t, second, e.ID)
}

func TestAListingSeesWhatChanged(t *testing.T) {
	home, s := written(t, lines(userLine))
	title := func() string {
		entries, _, err := s.List(t.Context(), threadlog.Filter{})
		require.NoError(t, err)
		require.Len(t, entries, 1)
		return entries[0].Title
	}
	assert.Equal(t, "hi", title())
	require.NoError(t, os.WriteFile(logPath(home, someID), []byte(lines(userLine, `"type":"title","text":"new"`)), 0o600))
	assert.Equal(t, "new", title())
}

func TestArchiveAndDelete(t *testing.T) {
	home := t.TempDir()
	s := threadlog.Disk(home)
	l := create(t, s)
	img, err := l.AddImage("image/png", []byte(png))
	require.NoError(t, err)
	it := user("see " + threadlog.Marker(img.Number))
	it.Images = []model.Image{img}
	add(t, l, &threadlog.Turn{Turn: "t1", Item: it}, end())
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.Error(t, s.Archive(ctx, l.ID()), "refused while in use")
	require.NoError(t, l.Close())
	require.NoError(t, os.MkdirAll(filepath.Join(home, "spill", l.ID()), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "threads", l.ID()+".torn-x"), nil, 0o600))

	require.NoError(t, s.Archive(t.Context(), l.ID()))
	entries, _, err := s.List(t.Context(), threadlog.Filter{})
	require.NoError(t, err)
	assert.Empty(t, entries)
	entries, _, err = s.List(t.Context(), threadlog.Filter{Archived: true})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.True(t, entries[0].Archived)
	_, _, err = s.Open(t.Context(), l.ID())
	require.ErrorIs(t, err, threadlog.ErrNotFound)
	_, _, err = s.Read(t.Context(), l.ID())
	require.NoError(t, err)
	e, err := threadlog.Find(t.Context(), s, l.ID()[:8])
	require.NoError(t, err)
	assert.True(t, e.Archived)
	fork, err := s.Fork(t.Context(), l.ID(), "")
	require.NoError(t, err)

	require.NoError(t, s.Unarchive(t.Context(), l.ID()))
	require.ErrorIs(t, s.Unarchive(t.Context(), l.ID()), threadlog.ErrNotFound)
	require.NoError(t, s.Delete(t.Context(), l.ID()))
	media := filepath.Join(home, "media", img.SHA256)
	assert.FileExists(t, media, "the fork names the image")
	for path := range tree(t, home) {
		assert.NotContains(t, path, l.ID())
	}
	assert.NoDirExists(t, filepath.Join(home, "spill", l.ID()))
	require.NoError(t, s.Delete(t.Context(), fork))
	assert.NoFileExists(t, media)
	require.ErrorIs(t, s.Delete(t.Context(), fork), threadlog.ErrNotFound)
	require.ErrorIs(t, s.Delete(t.Context(), "../../etc/passwd"), threadlog.ErrNotFound)
}

func TestDelete(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			d := s.(interface { // both stores can
				Delete(ctx context.Context, id string) error
			})
			l, other := create(t, s), create(t, s)
			for _, l := range []*threadlog.Log{l, other} {
				add(t, l, &threadlog.Turn{Turn: "t1", Item: user("hi")}, end())
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.Error(t, d.Delete(ctx, l.ID()), "refused while in use")
			_, _, err := s.Read(t.Context(), l.ID())
			require.NoError(t, err, "it is still there")
			require.NoError(t, l.Close())
			require.NoError(t, d.Delete(t.Context(), l.ID()))
			_, _, err = s.Read(t.Context(), l.ID())
			require.ErrorIs(t, err, threadlog.ErrNotFound)
			require.ErrorIs(t, d.Delete(t.Context(), l.ID()), threadlog.ErrNotFound)
			_, _, err = s.Read(t.Context(), other.ID())
			require.NoError(t, err)
		})
	}
}

func TestImages(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			for _, c := range []struct{ media, data string }{
				{"image/bmp", "BM"},
				{"image/png", "no"},
				{"image/jpeg", png},
				{"image/webp", "RIFF"},
				{"image/gif", "GIF8"},
				{"image/png", png + strings.Repeat("x", threadlog.MaxImage)},
			} {
				_, err := l.AddImage(c.media, []byte(c.data))
				require.ErrorIs(t, err, threadlog.ErrImage)
			}
			one, err := l.AddImage("image/png", []byte(png))
			require.NoError(t, err)
			two, err := l.AddImage("image/webp", []byte("RIFF1234WEBP"))
			require.NoError(t, err)
			assert.Equal(t, []int{1, 2}, []int{one.Number, two.Number})
			it := user("a " + threadlog.Marker(1) + " and typed " + threadlog.Marker(7))
			it.Images = []model.Image{one}
			shot := result("c", threadlog.Marker(2))
			shot.Images = []model.Image{two}
			add(t, l, &threadlog.Turn{Turn: "t1", Item: it}, round(call("c", "shot", "{}")), &threadlog.Result{CallID: "c", Item: shot})
			items := l.Items()
			assert.Equal(t, "a "+threadlog.Marker(1)+" and typed [Image #7]", items[0].Text, "only own markers are markers")

			loaded, notes := l.Load(items)
			assert.Empty(t, notes)
			sent := threadlog.Sendable(loaded, true)
			assert.Equal(t, png, string(sent[0].Images[0].Data))
			assert.Equal(t, "RIFF1234WEBP", string(sent[2].Images[0].Data))
			assert.Empty(t, items[0].Images[0].Data, "the thread's own item is not changed")
			plain := threadlog.Sendable(loaded, false)
			assert.Equal(t, "a [Image #1] and typed [Image #7]", plain[0].Text)
			assert.Empty(t, plain[0].Images)
			require.NoError(t, l.Close())

			again, _, err := s.Open(t.Context(), l.ID())
			require.NoError(t, err)
			three, err := again.AddImage("image/png", []byte(png))
			require.NoError(t, err)
			assert.Equal(t, 3, three.Number, "numbers are not used again")
			require.NoError(t, again.Close())
		})
	}
}

func TestAMissingImageBecomesText(t *testing.T) {
	home := t.TempDir()
	l := create(t, threadlog.Disk(home))
	img, err := l.AddImage("image/png", []byte(png))
	require.NoError(t, err)
	it := user("a " + threadlog.Marker(1))
	it.Images = []model.Image{img, {Number: 2, MediaType: "image/png", SHA256: "../threads/x"}}
	add(t, l, &threadlog.Turn{Turn: "t1", Item: it})
	require.NoError(t, os.Remove(filepath.Join(home, "media", img.SHA256)))
	loaded, notes := l.Load(l.Items())
	assert.Equal(t, []string{threadlog.MediaMissing, threadlog.MediaMissing}, codes(notes))
	sent := threadlog.Sendable(loaded, true)
	assert.Equal(t, "a [Image #1]", sent[0].Text)
	assert.Empty(t, sent[0].Images)
	require.NoError(t, l.Close())
}

func TestSendable(t *testing.T) {
	full, gone := model.Image{Number: 1, Data: []byte(png)}, model.Image{Number: 2}
	one, two := threadlog.Marker(1), threadlog.Marker(2)
	for name, c := range map[string]struct {
		role    model.Role
		text    string
		images  []model.Image
		accepts bool
		want    string
		left    int
	}{
		"all there":       {model.User, one, []model.Image{full}, true, one, 1},
		"one gone":        {model.User, one + two, []model.Image{full, gone}, true, one + "[Image #2]", 1},
		"not by a user":   {model.Assistant, one, []model.Image{full}, true, "[Image #1]", 0},
		"none taken":      {model.User, one + two, []model.Image{full, gone}, false, "[Image #1][Image #2]", 0},
		"foreign marker":  {model.User, one + two, []model.Image{full}, true, one + "[Image #2]", 1},
		"without a place": {model.User, "text", []model.Image{gone}, true, "text", 0},
	} {
		t.Run(name, func(t *testing.T) {
			it := &model.Item{Kind: model.Message, Role: c.role, Text: c.text, Images: c.images}
			items := []*model.Item{user("first"), it}
			sent := threadlog.Sendable(items, c.accepts)
			assert.Equal(t, c.want, sent[1].Text)
			assert.Len(t, sent[1].Images, c.left)
			assert.Same(t, items[0], sent[0])
			assert.Equal(t, c.text, it.Text, "the item itself is not changed")
			assert.Len(t, it.Images, len(c.images))
			if name == "all there" {
				assert.Same(t, &items[0], &sent[0], "nothing is copied")
			}
		})
	}
}

func TestExport(t *testing.T) {
	for name, s := range stores(t) {
		t.Run(name, func(t *testing.T) {
			l := create(t, s)
			add(t, l, turn("Fix \x1b[31mit"), round(
				&model.Item{Kind: model.Reasoning, Segments: []model.Segment{{Text: "thought"}}},
				reply("I look"), call("a", "read", `{"p":1}`)), answer("a", "x\n```\n````\ny"), round(reply("done")),
				&threadlog.TurnEnd{Turn: "t1", Stop: "completed", ModelCalls: 2, Usage: &model.Usage{Input: 3}},
				turn("cut off"), &threadlog.Prune{Items: []string{"i5"}})
			require.NoError(t, l.Close())
			export := func(f threadlog.Format) string {
				var out bytes.Buffer
				_, err := threadlog.Export(t.Context(), s, l.ID(), f, &out)
				require.NoError(t, err)
				return out.String()
			}
			assert.Equal(t, 8, strings.Count(export(threadlog.JSONL), "\n"))
			var object struct {
				Thread struct{ ID, Title string }
				Items  []*model.Item
				Turns  []struct {
					Turn, Item, Stop string
					ModelCalls       int
				}
				Usage model.Usage
			}
			require.NoError(t, json.Unmarshal([]byte(export(threadlog.JSON)), &object))
			assert.Equal(t, l.ID(), object.Thread.ID)
			assert.Equal(t, "Fix it", object.Thread.Title)
			assert.Equal(t, []string{"completed", "interrupted"}, []string{object.Turns[0].Stop, object.Turns[1].Stop})
			assert.Equal(t, 3, object.Usage.Input)
			assert.Len(t, object.Items, 7)
			assert.Equal(t, "x\n```\n````\ny", object.Items[4].Text, "as before pruning")
			assert.Equal(t, "# Fix it\n\n## Turn 1\n\n**User**\n\nFix it\n\n**Assistant**\n\nI look\n\n**Call** `read`\n\n"+
				"```json\n{\"p\":1}\n```\n\n**Result** success\n\n`````\nx\n```\n````\ny\n`````\n\n"+
				"**Assistant**\n\ndone\n\n## Turn 2\n\n**User**\n\ncut off\n", export(threadlog.Markdown))
			_, err := threadlog.Export(t.Context(), s, l.ID(), "xml", io.Discard)
			require.ErrorIs(t, err, threadlog.ErrFormat)
		})
	}
}

func TestCleanTitle(t *testing.T) {
	for in, want := range map[string]string{
		"":                          "",
		" a\t b\r\nc ":              "a b c",
		"\x1b]0;title\x07x":         "x",
		"\x1b]0;title\x1b\\x":       "x",
		"\x1b[1;31mred\x1b[0m":      "red",
		"\u009b31mred":              "red",
		"\x1b]never ends":           "never ends",
		"\x1b":                      "",
		"a\x00\x7f\u0085b":          "ab",
		"\x1b[":                     "",
		"bad\xffutf":                "bad\uFFFDutf",
		strings.Repeat("🙂", 90):     strings.Repeat("🙂", 80),
		"\x1bPdevice\x1b\\control":  "control",
		"\x1b(Bcharset":             "charset",
		"keeps \u2028 as one space": "keeps as one space",
	} {
		assert.Equal(t, want, threadlog.CleanTitle(in), "%q", in)
	}
}
