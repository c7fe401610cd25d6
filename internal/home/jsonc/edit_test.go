package jsonc_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"pgregory.net/rapid"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
)

func TestEditChangesOneMemberAndKeepsTheRest(t *testing.T) {
	set := func(value any, keys ...string) func(*jsonc.Draft) error {
		return func(d *jsonc.Draft) error { return d.Set(value, keys...) }
	}
	appendTo := func(text string, keys ...string) func(*jsonc.Draft) error {
		return func(d *jsonc.Draft) error { return d.Append(text, keys...) }
	}
	drop := func(text string, keys ...string) func(*jsonc.Draft) error {
		return func(d *jsonc.Draft) error {
			return d.Drop(func(s string) bool { return s == text }, keys...)
		}
	}
	remove := func(keys ...string) func(*jsonc.Draft) error {
		return func(d *jsonc.Draft) error { return d.Remove(keys...) }
	}
	tests := []struct {
		name, before string
		change       func(*jsonc.Draft) error
		after        string
	}{
		{
			"FIELD-N2 a value between comments",
			"{ // on\n  \"enabled\": true, /* which */ \"id\": \"acme.x\",\n}", set(false, "enabled"),
			"{ // on\n  \"enabled\": false, /* which */ \"id\": \"acme.x\",\n}",
		},
		{
			"HOST-32 odd indent and unknown key",
			"{\n     \"colour\" : 3,\n \"enabled\":true // why\n}\n", set(false, "enabled"),
			"{\n     \"colour\" : 3,\n \"enabled\":false // why\n}\n",
		},
		{"into an empty object", "{}", set(false, "plugins"), "{\n  \"plugins\": false\n}"},
		{"into an object with a comment", "{ // mine\n}\n", set(false, "plugins"), "{ // mine\n  \"plugins\": false\n}\n"},
		{
			"a new member takes the indent of its sibling",
			"{\n\t\"a\": 1 // note\n}\n", set(2, "b"),
			"{\n\t\"a\": 1, // note\n\t\"b\": 2\n}\n",
		},
		{"a new member after a trailing comma", "{\n  \"a\": 1,\n}\n", set(2, "b"), "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
		{"a new member on one line", `{"a": 1}`, set(2, "b"), `{"a": 1, "b": 2}`},
		{"nested objects are made", "{\n  \"a\": 1\n}\n", set(2, "b", "c"), "{\n  \"a\": 1,\n  \"b\": {\"c\": 2}\n}\n"},
		{"into a nested object", `{"l": {"x": 1}}`, set(2, "l", "y"), `{"l": {"x": 1, "y": 2}}`},
		{"the last of a repeated key counts", `{"a": 1, "a": 2}`, set(3, "a"), `{"a": 1, "a": 3}`},
		{"CRLF and byte order mark stay", "\ufeff{\r\n  \"a\": 1\r\n}\r\n", set(2, "b"), "\ufeff{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n"},
		{"keys with slashes and tildes", `{"a/b~c": 1}`, set(2, "a/b~c"), `{"a/b~c": 2}`},
		{"a first element", "{\n  \"a\": 1\n}", appendTo("x", "l"), "{\n  \"a\": 1,\n  \"l\": [\"x\"]\n}"},
		{"an element on the same line", `{"l": ["x"]}`, appendTo("y", "l"), `{"l": ["x", "y"]}`},
		{
			"an element on a line of its own",
			"{\"l\": [\n    \"x\", // one\n    \"y\" // two\n  ]}", appendTo("z", "l"),
			"{\"l\": [\n    \"x\", // one\n    \"y\", // two\n    \"z\"\n  ]}",
		},
		{"the first element goes", `{"l": ["x", "y"]}`, drop("x", "l"), `{"l": ["y"]}`},
		{"the only element goes", `{"l": ["x"]}`, drop("x", "l"), `{"l": []}`},
		{"a member goes", "{\n  \"a\": 1,\n  \"b\": 2 // two\n}\n", remove("a"), "{\n  \"b\": 2 // two\n}\n"},
		{"both of a repeated key go", `{"a": 1, "b": 2, "a": 3}`, remove("a"), `{ "b": 2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.json")
			require.NoError(t, os.WriteFile(path, []byte(tt.before), 0o640))
			changed, err := jsonc.Edit(path, tt.change)
			require.NoError(t, err)
			assert.True(t, changed)
			after, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, tt.after, string(after))
			info, err := os.Stat(path)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "the old mode is kept")
			_, err = jsonc.Parse("after", after)
			assert.NoError(t, err)
		})
	}
}

// HOST-32, second run: a value that is already so leaves the file's bytes, and the file itself, alone.
func TestEditLeavesAFileAloneThatIsAlreadySo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte("{ \"a\": {\"x\": [1.0, 2]} }"), 0o600))
	before, err := os.Stat(path)
	require.NoError(t, err)
	changed, err := jsonc.Edit(path, func(d *jsonc.Draft) error {
		return errors.Join(d.Set(map[string]any{"x": []int{1, 2}}, "a"), d.Remove("b"), d.Drop(func(string) bool { return true }, "c"))
	})
	require.NoError(t, err)
	assert.False(t, changed)
	after, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
}

func TestEditMakesAFileForItsOwnerAlone(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	path := filepath.Join(home, "config.json")
	changed, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set(false, "plugins") })
	require.NoError(t, err)
	assert.True(t, changed)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "{\n  \"plugins\": false\n}\n", string(text))
	for name, mode := range map[string]fs.FileMode{home: 0o700, path: 0o600} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), name)
	}
}

func TestEditReplacesTheTargetOfALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, "config.json")
	require.NoError(t, os.WriteFile(target, []byte("{}"), 0o644))
	require.NoError(t, os.Symlink(target, link))
	_, err := jsonc.Edit(link, func(d *jsonc.Draft) error { return d.Set(1, "a") })
	require.NoError(t, err)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&fs.ModeSymlink, "the link is still a link")
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"a": 1`)
}

func TestEditNeverOverwritesWhatItCannotParse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte("{ broken"), 0o600))
	_, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set(1, "a") })
	var syntax *jsonc.SyntaxError
	require.ErrorAs(t, err, &syntax)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "{ broken", string(text))
}

func TestEditRefusesToLoseAValueOfAnotherKind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"l": "text", "o": 7}`), 0o600))
	for name, change := range map[string]func(d *jsonc.Draft) error{
		"append": func(d *jsonc.Draft) error { return d.Append("x", "l") },
		"drop":   func(d *jsonc.Draft) error { return d.Drop(func(string) bool { return true }, "l") },
		"set":    func(d *jsonc.Draft) error { return d.Set(1, "o", "p") },
	} {
		changed, err := jsonc.Edit(path, change)
		assert.Error(t, err, name)
		assert.False(t, changed, name)
	}
}

// FIELD-T4: a lock that is held for a moment is waited for; one that is held for ever is named after five seconds.
func TestEditWaitsForALockWithinItsLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	synctest.Test(t, func(t *testing.T) {
		other := flock.New(path + ".lock")
		require.NoError(t, other.Lock())
		defer other.Close()
		time.AfterFunc(200*time.Millisecond, func() { assert.NoError(t, other.Unlock()) })
		began := time.Now()
		_, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set(1, "a") })
		require.NoError(t, err)
		assert.InDelta(t, 0.2, time.Since(began).Seconds(), 0.1)

		require.NoError(t, other.Lock())
		began = time.Now()
		_, err = jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set(2, "a") })
		var locked *jsonc.LockedError
		require.ErrorAs(t, err, &locked)
		assert.Equal(t, path+".lock", locked.Lock)
		assert.Contains(t, err.Error(), path+".lock")
		assert.InDelta(t, jsonc.LockWait.Seconds(), time.Since(began).Seconds(), 0.1)
	})
}

// FIELD-T2 within one process: no update is lost, no reader sees half a file, nothing is left behind.
func TestEditLosesNoUpdateOfManyWriters(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.json")
	require.NoError(t, os.WriteFile(path, []byte("{} // mine\n"), 0o600))
	stop := make(chan struct{})
	var readers, writers sync.WaitGroup
	readers.Go(func() {
		for {
			_, err := jsonc.Read(path)
			if !assert.NoError(t, err) {
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	const n = 16
	for w := range n {
		writers.Go(func() {
			id := fmt.Sprintf("a.p%d", w)
			for range 5 {
				_, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Append(id, "disabledPlugins") })
				assert.NoError(t, err)
				_, err = jsonc.Edit(path, func(d *jsonc.Draft) error {
					return d.Drop(func(s string) bool { return s == id }, "disabledPlugins")
				})
				assert.NoError(t, err)
			}
			_, err := jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Append(id, "disabledPlugins") })
			assert.NoError(t, err)
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	o, err := jsonc.Read(path)
	require.NoError(t, err)
	ids, ok := o.Fields(func(p jsonc.Problem) { t.Error(p) }).Texts("disabledPlugins")
	assert.True(t, ok)
	assert.Len(t, ids, n)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(string(text), "// mine\n"))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the file and its lock")
}

// Whatever members a file has and in whatever layout, a set keeps every other member and is read back.
func TestSetIsReadBackInEveryLayout(t *testing.T) {
	blank := rapid.SampledFrom([]string{"", " ", "\n  ", "\r\n\t", " /* c */ ", " // c\n"})
	dir := t.TempDir()
	rapid.Check(t, func(r *rapid.T) {
		var b strings.Builder
		b.WriteString("{")
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c/d", "e~"}), 0, 5).Draw(r, "keys")
		for i, k := range keys {
			if i > 0 {
				b.WriteString(",")
			}
			fmt.Fprintf(&b, "%s%q%s:%s%d%s", blank.Draw(r, "w"), k, blank.Draw(r, "w"), blank.Draw(r, "w"), i, blank.Draw(r, "w"))
		}
		if len(keys) > 0 && rapid.Bool().Draw(r, "comma") {
			b.WriteString(",")
		}
		b.WriteString(blank.Draw(r, "w") + "}" + blank.Draw(r, "w"))
		key := rapid.SampledFrom([]string{"a", "c/d", "new"}).Draw(r, "key")
		path := filepath.Join(dir, "f.json")
		require.NoError(r, os.WriteFile(path, []byte(b.String()), 0o600))
		before, err := jsonc.Parse("f", []byte(b.String()))
		require.NoError(r, err)
		_, err = jsonc.Edit(path, func(d *jsonc.Draft) error { return d.Set("new value", key) })
		require.NoError(r, err)
		after, err := jsonc.Read(path)
		require.NoError(r, err)
		text, _ := after.Text(key)
		assert.Equal(r, "new value", text)
		for _, k := range before.Keys() {
			if k != key {
				assert.Equal(r, string(before.JSON(k)), string(after.JSON(k)))
			}
		}
	})
}
