package exectool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/crystalkernel/crystal/internal/builtin/fence"
)

// errLeadsOut refuses a program that is named as part of its set and is none.
var errLeadsOut = errors.New("it leads out of the directory of its tool set")

// find returns the file of the program. A name with a separator starts from the directory of the set and may not leave it,
// through a link neither; one without is looked for there first and then on the search path.
func (p *program) find() (string, error) {
	if len(p.tool.Command) == 0 || p.tool.Command[0] == "" {
		return "", errors.New("the manifest names no program: add a command")
	}
	name := p.tool.Command[0]
	if filepath.IsAbs(name) {
		return name, nil
	}
	own := filepath.Join(p.set.Path, filepath.FromSlash(name))
	if !strings.ContainsAny(name, pathSeparators) {
		if info, err := os.Lstat(own); err != nil || info.IsDir() {
			path, err := exec.LookPath(name)
			if err != nil {
				return "", fmt.Errorf("%s: %w", name, bare(err))
			}
			return filepath.Abs(path)
		}
	}
	set, err := filepath.EvalSymlinks(p.set.Path)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.set.Path, bare(err))
	}
	real, err := filepath.EvalSymlinks(own)
	if err != nil {
		return "", fmt.Errorf("%s: %w", own, bare(err))
	}
	if !fence.Below(set, real) {
		return "", fmt.Errorf("%s: %w", name, errLeadsOut)
	}
	return real, nil
}

// startFault says why a program could not be started. A script whose interpreter is missing is told from a missing file.
func startFault(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if _, stat := os.Stat(path); stat == nil {
			return fmt.Errorf("%s: the interpreter that its first line names: %w", path, bare(err))
		}
	}
	return fmt.Errorf("%s: %w", path, bare(err))
}

// bare takes paths and names of calls out of an error of the system.
func bare(err error) error {
	var path *fs.PathError
	var command *exec.Error
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &command):
		return command.Err
	}
	return err
}
