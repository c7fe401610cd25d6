package builtin_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/tool"
)

func TestClassOfPath(t *testing.T) {
	d := newDesk(t)
	d.file("src/a.go", "x")
	d.link(d.out, "link")
	d.link("src", "inner")
	tests := []struct {
		tool, path, want string
	}{
		{"read", "src/a.go", "Read Workspace"},
		{"read", d.ws + "/src/a.go", "Read Workspace"},
		{"read", "inner/a.go", "Read Workspace"},
		{"read", "../out/x", "Read OutsideWorkspace"},
		{"read", "link/x", "Read OutsideWorkspace"},
		{"read", "~/x", "Read OutsideWorkspace"},
		{"list", "", "Read Workspace"},
		{"grep", "/", "Read OutsideWorkspace"},
		{"glob", "src", "Read Workspace"},
		{"read", "a/.SSH/id", "Forbidden PrivilegedEscalation"},
		{"read", ".gnupg", "Forbidden PrivilegedEscalation"},
		{"read", "src/Credentials.json", "Forbidden PrivilegedEscalation"},
		{"write", ".netrc", "Forbidden PrivilegedEscalation"},
		{"read", ".aws/credentials", "Forbidden PrivilegedEscalation"},
		{"read", "credentials", "Read Workspace"},
		{"read", d.home + "/permissions.json", "Forbidden PrivilegedEscalation"},
		{"read", "permissions.json", "Read Workspace"},
		{"write", "src/new.go", "Write Workspace"},
		{"edit", "../out/x", "Write OutsideWorkspace"},
		{"write", ".git/hooks/x", "Privileged Workspace"},
		{"edit", ".Crystal/config.json", "Privileged Workspace"},
		{"read", ".git/config", "Read Workspace"},
		{"read", "a\x00b", "Read Workspace"},
	}
	for _, tt := range tests {
		t.Run(tt.tool+" "+tt.path, func(t *testing.T) {
			k := d.classify(tt.tool, args{"path": tt.path})
			assert.Equal(t, tt.want, k.Risk.String()+" "+k.Authority.String())
		})
	}
	assert.Equal(t, filepath.ToSlash(filepath.Join(d.ws, "src", "a.go")), d.classify("read", args{"path": "inner/a.go"}).Fingerprint)
}

// FIELD-L1
func TestALinkOutNeedsApproval(t *testing.T) {
	d := newDesk(t)
	d.file(d.out+"/secret.txt", "s3cret")
	d.link(d.out, "link")
	a := args{"path": "link/secret.txt"}
	k := d.classify("read", a)
	assert.Equal(t, "Read OutsideWorkspace", k.Risk.String()+" "+k.Authority.String())

	r := d.runIn(context.Background(), "t1", "read", a, tool.Classification{Risk: tool.Read, Authority: tool.Workspace, Paths: k.Paths})
	require.True(t, r.Failed)
	assert.Equal(t, tool.CodeAccessDenied, r.Error.Code)
	assert.Equal(t, "     1\ts3cret", d.ok("read", a), "what was approved is opened")
}

// FIELD-L2
func TestWritingThroughALinkToNothingIsDenied(t *testing.T) {
	d := newDesk(t)
	d.link(filepath.Join(d.out, "new"), "new")
	d.link("gone", "inner")
	k := d.classify("write", args{"path": "new", "content": "1"})
	assert.Equal(t, "Write OutsideWorkspace", k.Risk.String()+" "+k.Authority.String())
	d.fails(tool.CodeAccessDenied, "write", args{"path": "new", "content": "1"})
	d.fails(tool.CodeAccessDenied, "write", args{"path": "inner", "content": "1"})
	assert.NoFileExists(t, filepath.Join(d.out, "new"))
	assert.NoFileExists(t, filepath.Join(d.ws, "gone"))
}

// FIELD-L3
func TestWritingBelowALinkedDirectoryIsOutside(t *testing.T) {
	d := newDesk(t)
	d.link(d.out, "lib")
	a := args{"path": "lib/x", "content": "1"}
	k := d.classify("write", a)
	assert.Equal(t, "Write OutsideWorkspace", k.Risk.String()+" "+k.Authority.String())
	r := d.runIn(context.Background(), "t1", "write", a, tool.Classification{Risk: tool.Write, Authority: tool.Workspace})
	assert.Equal(t, tool.CodeAccessDenied, r.Error.Code)
	assert.NoFileExists(t, filepath.Join(d.out, "x"))
	d.ok("write", a)
	assert.FileExists(t, filepath.Join(d.out, "x"))
}

func TestASwapAfterTheApprovalIsDenied(t *testing.T) {
	for _, swap := range []struct {
		name string
		path string
		do   func(d *desk)
	}{
		{"file becomes a link out", "a.txt", func(d *desk) {
			require.NoError(d.t, os.Remove(filepath.Join(d.ws, "a.txt")))
			d.link(filepath.Join(d.out, "secret.txt"), "a.txt")
		}},
		{"directory becomes a link out", "dir/secret.txt", func(d *desk) {
			require.NoError(d.t, os.RemoveAll(filepath.Join(d.ws, "dir")))
			d.link(d.out, "dir")
		}},
		{"file becomes a link to another inside", "a.txt", func(d *desk) {
			require.NoError(d.t, os.Remove(filepath.Join(d.ws, "a.txt")))
			d.link("dir/secret.txt", "a.txt")
		}},
		{"approved outside, leads elsewhere by now", "", func(d *desk) {
			require.NoError(d.t, os.Rename(filepath.Join(d.out, "sub"), filepath.Join(d.out, "old")))
			require.NoError(d.t, os.Symlink(d.home, filepath.Join(d.out, "sub")))
		}},
	} {
		t.Run(swap.name, func(t *testing.T) {
			d := newDesk(t)
			d.file("a.txt", "mine")
			d.file("dir/secret.txt", "mine")
			d.file(d.out+"/secret.txt", "s3cret")
			d.file(d.out+"/sub/x", "mine")
			d.file(d.home+"/x", "s3cret")
			path := swap.path
			if path == "" {
				path = filepath.Join(d.out, "sub", "x")
			}
			k := d.classify("read", args{"path": path})
			swap.do(d)
			r := d.runIn(context.Background(), "t1", "read", args{"path": path}, k)
			require.True(t, r.Failed, text(r))
			assert.Equal(t, tool.CodeAccessDenied, r.Error.Code)
		})
	}
}
