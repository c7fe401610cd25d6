package approval

import (
	"context"

	"github.com/crystalkernel/crystal/points/dispatch"
)

// Policy is the default policy.
func Policy() dispatch.Policy {
	return dispatch.PolicyFunc(func(context.Context, dispatch.Call) (dispatch.Verdict, error) {
		return dispatch.Allowed(), nil
	})
}
