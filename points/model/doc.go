// Package model holds the contracts of model access: the [Client] that sends one request and streams its answer, the
// [Middleware] that wraps it, the [ClientFactory] of a wire protocol, and the data that passes between them.
//
// A [Request] is built once for a round and is immutable. A client emits [Delta] values in stream order and returns the
// candidate that an [Assembler] made of them:
//
//	func (c *client) Round(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
//		var a model.Assembler
//		for d := range c.stream(ctx, r) {
//			if err := a.Add(d); err != nil {
//				return nil, err
//			}
//			if err := emit(d); err != nil {
//				return nil, err
//			}
//		}
//		return a.Response()
//	}
//
// Failures of a provider are *[Error] values, from which the host knows whether to try again.
//
// Beside the points there are two services that a host gives to plugins whose constructors ask for them: [Facts] tells which
// models are in use, and [Clients] asks them.
package model
