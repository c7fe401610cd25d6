package approval

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/tool"
)

// Policy returns the default policy. It refuses what no approval should ever be asked about: a class that is none, and a
// built-in tool that would write outside the workspace though its call was classified as staying inside.
func Policy() dispatch.Policy { return dispatch.PolicyFunc(evaluate) }

func evaluate(_ context.Context, c dispatch.Call) (dispatch.Verdict, error) {
	k := &c.Classification
	if !k.Risk.Valid() || !k.Authority.Valid() {
		return dispatch.Denied(tool.CodeAccessDenied, "This call could not be classified, so it is not run."), nil
	}
	if k.Authority == tool.Workspace && k.Risk > tool.Read && c.Definition != nil && c.Definition.Key.Kind == tool.OwnerBuiltin {
		for _, path := range k.Paths {
			if !below(c.Workspace, path) {
				v := dispatch.Denied(tool.CodeAccessDenied, "The path lies outside the workspace.")
				v.Params = map[string]any{"path": path}
				return v, nil
			}
		}
	}
	return dispatch.Allowed(), nil
}

func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
