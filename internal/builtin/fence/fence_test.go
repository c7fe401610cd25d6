package fence_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
)

type yard struct {
	fence   *fence.Fence
	ws, out string
}

func newYard(t testing.TB) yard {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	y := yard{ws: filepath.Join(top, "ws"), out: filepath.Join(top, "out")}
	for _, dir := range []string{y.ws, y.out} {
		require.NoError(t, os.MkdirAll(dir, 0o755))
	}
	y.fence = fence.New(fence.Config{Workspace: y.ws, UserHome: filepath.Join(top, "user"), Home: filepath.Join(top, "user", ".crystal")})
	return y
}

func write(t testing.TB, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func link(t testing.TB, target, path string) {
	t.Helper()
	require.NoError(t, os.Symlink(target, path))
}

func judge(t testing.TB, f *fence.Fence, path string) fence.Place {
	t.Helper()
	p, err := f.Judge(path)
	require.NoError(t, err)
	return p
}

func TestJudge(t *testing.T) {
	y := newYard(t)
	write(t, filepath.Join(y.ws, "a", "b.txt"), "x")
	link(t, y.out, filepath.Join(y.ws, "out"))
	link(t, "a", filepath.Join(y.ws, "in"))
	link(t, filepath.Join(y.ws, "a"), filepath.Join(y.ws, "abs"))
	link(t, filepath.Join(y.out, "none"), filepath.Join(y.ws, "gone"))
	link(t, "none/deeper", filepath.Join(y.ws, "lost"))
	link(t, filepath.Join(y.ws, "a"), filepath.Join(y.out, "back"))
	for _, tt := range []struct {
		path, want        string
		outside, dangling bool
	}{
		{"a/b.txt", "ws/a/b.txt", false, false},
		{"./a/../a/b.txt", "ws/a/b.txt", false, false},
		{"in/b.txt", "ws/a/b.txt", false, false},
		{"abs/new", "ws/a/new", false, false},
		{"out/x/y", "out/x/y", true, false},
		{"gone", "out/none", true, true},
		{"gone/x", "out/none/x", true, true},
		{"lost", "ws/none/deeper", false, true},
		{"new/er", "ws/new/er", false, false},
		{"a/b.txt/c", "ws/a/b.txt/c", false, false},
		{y.out + "/back/b.txt", "ws/a/b.txt", true, false},
		{"..", "", true, false},
		{"~/x", "user/x", true, false},
		{"", "ws", false, false},
	} {
		p := judge(t, y.fence, tt.path)
		assert.Equal(t, filepath.Join(filepath.Dir(y.ws), tt.want), p.Path, tt.path)
		assert.Equal(t, tt.outside, p.Outside, tt.path)
		assert.Equal(t, tt.dangling, p.Dangling, tt.path)
	}
	link(t, "loop2", filepath.Join(y.ws, "loop1"))
	link(t, "loop1", filepath.Join(y.ws, "loop2"))
	_, err := y.fence.Judge("loop1")
	assert.ErrorIs(t, err, fence.ErrMalformed)
}

func TestAWorkspaceThatIsALinkIsOneWorkspace(t *testing.T) {
	y := newYard(t)
	alias := filepath.Join(filepath.Dir(y.ws), "alias")
	link(t, y.ws, alias)
	write(t, filepath.Join(y.ws, "a"), "x")
	f := fence.New(fence.Config{Workspace: alias})
	assert.False(t, judge(t, f, filepath.Join(alias, "a")).Outside)
	assert.False(t, judge(t, f, filepath.Join(y.ws, "a")).Outside)
	assert.Equal(t, y.ws, f.Workspace())
	assert.Equal(t, "a", f.Show(filepath.Join(alias, "a")))
}

func TestEndsInCredential(t *testing.T) {
	y := newYard(t)
	home := filepath.Join(filepath.Dir(y.ws), "user", ".crystal")
	for text, want := range map[string]bool{
		"a/.ssh/id": true, "host:.ssh/id": true, "--key=/x/.ssh": true, "@.netrc": true, "x=.aws/credentials": true,
		"a:b:c=credentials.json": true, "credentials.json.bak": false, "credentials": false, "aws=credentials": false,
		".sshd/x": false, "k=" + home + "/permissions.json": true, "permissions.json": false, "k=permissions.json": false,
		"x" + home + "/permissions.json": false, "": false, "::::": false, "a/.SSH": true, ".ssh=x": false,
	} {
		assert.Equal(t, want, y.fence.EndsInCredential(text), text)
	}
}

func TestEnterOpensOnlyWhatWasApproved(t *testing.T) {
	y := newYard(t)
	write(t, filepath.Join(y.ws, "a"), "in")
	write(t, filepath.Join(y.out, "b"), "out")
	inside, outside := judge(t, y.fence, "a"), judge(t, y.fence, y.out+"/b")
	for _, tt := range []struct {
		name  string
		place fence.Place
		a     fence.Approved
		want  error
	}{
		{"inside needs no approval", inside, fence.Approved{}, nil},
		{"inside, approved", inside, fence.Approved{Paths: []string{inside.Path}}, nil},
		{"inside, another path approved", inside, fence.Approved{Paths: []string{"/x"}}, fence.ErrMoved},
		{"outside, nothing approved", outside, fence.Approved{}, fence.ErrOutside},
		{"outside, no path approved", outside, fence.Approved{Outside: true}, fence.ErrOutside},
		{"outside, path but not the outside", outside, fence.Approved{Paths: []string{outside.Path}}, fence.ErrOutside},
		{"outside, another path", outside, fence.Approved{Outside: true, Paths: []string{inside.Path}}, fence.ErrMoved},
		{"outside, approved", outside, fence.Approved{Outside: true, Paths: []string{outside.Path}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spot, err := y.fence.Enter(tt.place, tt.a)
			if tt.want != nil {
				assert.ErrorIs(t, err, tt.want)
				assert.ErrorIs(t, err, fence.ErrDenied)
				return
			}
			require.NoError(t, err)
			defer func() { assert.NoError(t, spot.Close()) }()
			f, err := spot.Open()
			require.NoError(t, err)
			assert.NoError(t, f.Close())
		})
	}
}

func TestReplaceOutsideMakesDirectories(t *testing.T) {
	y := newYard(t)
	p := judge(t, y.fence, y.out+"/new/deep/file")
	spot, err := y.fence.Enter(p, fence.Approved{Outside: true, Paths: []string{p.Path}})
	require.NoError(t, err)
	created, err := spot.Replace([]byte("x"))
	require.NoError(t, err)
	assert.True(t, created)
	created, err = spot.Replace([]byte("y"))
	require.NoError(t, err)
	assert.False(t, created)
	require.NoError(t, spot.Close())
	data, err := os.ReadFile(p.Path)
	require.NoError(t, err)
	assert.Equal(t, "y", string(data))
}

func TestALinkPutInPlaceOfAnOutsideFileIsRefused(t *testing.T) {
	y := newYard(t)
	write(t, filepath.Join(y.out, "a"), "mine")
	write(t, filepath.Join(y.out, "secret"), "s3cret")
	p := judge(t, y.fence, y.out+"/a")
	spot, err := y.fence.Enter(p, fence.Approved{Outside: true, Paths: []string{p.Path}})
	require.NoError(t, err)
	defer func() { _ = spot.Close() }()
	require.NoError(t, os.Remove(filepath.Join(y.out, "a")))
	link(t, "secret", filepath.Join(y.out, "a"))
	_, err = spot.Open()
	assert.ErrorIs(t, err, fence.ErrMoved)
	_, err = spot.Replace([]byte("x"))
	assert.ErrorIs(t, err, fence.ErrMoved)
}

// Whatever a path is made of, what is opened without an approval lies in the workspace.
func TestNothingOutsideIsOpenedUnapproved(t *testing.T) {
	y := newYard(t)
	write(t, filepath.Join(y.ws, "a", "file"), "inside")
	write(t, filepath.Join(y.ws, "file"), "inside")
	write(t, filepath.Join(y.out, "file"), "outside")
	write(t, filepath.Join(y.out, "a", "file"), "outside")
	link(t, y.out, filepath.Join(y.ws, "l"))
	link(t, "../../out", filepath.Join(y.ws, "a", "up"))
	link(t, "..", filepath.Join(y.ws, "a", "top"))
	link(t, filepath.Join(y.ws, "a"), filepath.Join(y.out, "back"))
	link(t, "a", filepath.Join(y.ws, "in"))
	parts := []string{"a", "l", "up", "top", "back", "in", "..", ".", "file", "ws", "out", "none", "~"}
	rapid.Check(t, func(rt *rapid.T) {
		path := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 6).Draw(rt, "parts"), "/")
		p, err := y.fence.Judge(path)
		if err != nil {
			return
		}
		spot, err := y.fence.Enter(p, fence.Approved{Paths: []string{p.Path}})
		if err != nil {
			return
		}
		defer func() { _ = spot.Close() }()
		f, err := spot.Open()
		if err != nil {
			return
		}
		defer func() { _ = f.Close() }()
		data, err := io.ReadAll(f)
		if err != nil || string(data) != "inside" {
			rt.Fatalf("%s gave %q, %v", path, data, err)
		}
	})
}

// While somebody swaps a directory for a link that leads out, what is read is the file inside or nothing.
func TestARaceOfSwapsNeverLeadsOut(t *testing.T) {
	y := newYard(t)
	write(t, filepath.Join(y.ws, "d", "file"), "inside")
	write(t, filepath.Join(y.out, "file"), "outside")
	stop := make(chan struct{})
	var swapper sync.WaitGroup
	swapper.Go(func() {
		dir, kept := filepath.Join(y.ws, "d"), filepath.Join(y.ws, "kept")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(dir, kept)
			_ = os.Symlink(y.out, dir)
			_ = os.Remove(dir)
			_ = os.Rename(kept, dir)
		}
	})
	read := 0
	for range 3000 {
		p, err := y.fence.Judge("d/file")
		if err != nil {
			continue
		}
		spot, err := y.fence.Enter(p, fence.Approved{Paths: []string{filepath.Join(y.ws, "d", "file")}})
		if err != nil {
			require.True(t, errors.Is(err, fence.ErrDenied) || errors.Is(err, fs.ErrNotExist), "%v", err)
			continue
		}
		if f, err := spot.Open(); err == nil {
			data, err := io.ReadAll(f)
			require.NoError(t, err)
			require.Equal(t, "inside", string(data))
			require.NoError(t, f.Close())
			read++
		}
		require.NoError(t, spot.Close())
	}
	close(stop)
	swapper.Wait()
	assert.Positive(t, read)
}

func ExampleFence_Judge() {
	f := fence.New(fence.Config{Workspace: "/no/such/workspace"})
	for _, path := range []string{"src/main.go", "../other", ".git/config"} {
		p, err := f.Judge(path)
		fmt.Println(f.Show(p.Path), p.Outside, p.Guarded, err)
	}
	// Output:
	// src/main.go false false <nil>
	// /no/such/other true false <nil>
	// .git/config false true <nil>
}
