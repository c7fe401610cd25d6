package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/crystalkernel/crystal/points/tool"
)

const (
	permissionsFile = "permissions.json"
	lockTime        = 5 * time.Second
	lockRetry       = 20 * time.Millisecond
)

// permissions are the grants on disk. The file is read at each check, so that a grant taken out by hand ends at once.
// A blank home has none and keeps none.
type permissions struct{ home string }

// cover reports whether a stored grant covers the call. A file that is missing or can't be read covers nothing.
func (p permissions) cover(want *grant) bool {
	if p.home == "" {
		return false
	}
	data, err := os.ReadFile(filepath.Join(p.home, permissionsFile))
	if err != nil {
		return false
	}
	d, err := parseDocument(data)
	if err != nil {
		return false
	}
	return d.covers(want)
}

// add stores g, unless a grant that covers the same is there already.
func (p permissions) add(ctx context.Context, g grant) error {
	if p.home == "" {
		return errors.New("this host has no home directory")
	}
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		return fmt.Errorf("approval: making the home directory: %w", err)
	}
	path := filepath.Join(p.home, permissionsFile)
	unlock, err := lock(ctx, path+".lock")
	if err != nil {
		return err
	}
	defer unlock()

	mode := fs.FileMode(0o600)
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		data = nil
	case err != nil:
		return fmt.Errorf("approval: reading %s: %w", permissionsFile, err)
	default:
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	d, err := parseDocument(data)
	if err != nil {
		return err
	}
	if d.covers(&g) {
		return nil
	}
	next, err := d.with(g)
	if err != nil {
		return err
	}
	return replaceFile(path, next, mode)
}

// lock takes the lock file. It waits up to five seconds.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	l := flock.New(path, flock.SetPermissions(0o600))
	bounded, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	ok, err := l.TryLockContext(bounded, lockRetry)
	switch {
	case ok:
		return func() { _ = l.Unlock() }, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil || errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("%w: the lock file %s is held by another process", ErrLocked, path)
	}
	return nil, fmt.Errorf("approval: locking %s: %w", permissionsFile, err)
}

// replaceFile puts data in the place of the file at once: a reader sees the old content or the new. A link keeps its
// place and its target is replaced.
func replaceFile(path string, data []byte, mode fs.FileMode) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+permissionsFile+"-*")
	if err != nil {
		return fmt.Errorf("approval: writing %s: %w", permissionsFile, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
			err = fmt.Errorf("approval: writing %s: %w", permissionsFile, err)
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(mode); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	if d, err := os.Open(dir); err == nil {
		// Not every system can flush a directory; the file itself is safe by now.
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

// storedGrant is a grant as it stands in the file.
type storedGrant struct {
	Workspace   string `json:"workspace"`
	Tool        string `json:"tool"`
	Fingerprint string `json:"fingerprint"`
	Risk        string `json:"risk"`
	Authority   string `json:"authority"`
	GrantedAt   string `json:"grantedAt"`
}

// storedFields are the fields of storedGrant: all of them are there in a grant that counts, and no others.
var storedFields = []string{"workspace", "tool", "fingerprint", "risk", "authority", "grantedAt"}

func (g *grant) stored() storedGrant {
	return storedGrant{
		Workspace: g.workspace, Tool: g.tool, Fingerprint: g.fingerprint,
		Risk: g.risk.String(), Authority: g.authority.String(), GrantedAt: g.grantedAt.Format(time.RFC3339),
	}
}

// parseGrant reads one entry of the file. It reports false for an entry that does not count.
func parseGrant(data json.RawMessage) (grant, bool) {
	var fields map[string]string
	if json.Unmarshal(data, &fields) != nil || len(fields) != len(storedFields) {
		return grant{}, false
	}
	for _, name := range storedFields {
		if fields[name] == "" {
			return grant{}, false
		}
	}
	g := grant{workspace: fields["workspace"], tool: fields["tool"], fingerprint: fields["fingerprint"]}
	for r := tool.Read; r.Valid(); r++ {
		if r.String() == fields["risk"] {
			g.risk = r
		}
	}
	for a := tool.Workspace; a.Valid(); a++ {
		if a.String() == fields["authority"] {
			g.authority = a
		}
	}
	return g, g.risk.Valid() && g.risk != tool.Forbidden && g.authority.Valid()
}
