// Package wire carries model requests over HTTP and reads streamed answers, for all protocols alike: sending, time
// limits, redirects, the kind of a body, errors and their classification, and the ends of a stream. What a request and
// an event look like is the business of a [Codec]; each protocol has a package of its own below this one.
//
// A protocol package makes a factory from its codec:
//
//	var Module = contrib.Supply[model.ClientFactory](model.Protocols, NewFactory(nil))
//
//	func NewFactory(t http.RoundTripper) *wire.Factory {
//		return &wire.Factory{Transport: t, Protocols: []string{"acme"}, Codec: newCodec}
//	}
//
// A [Client] makes one attempt per round. It sends again only where a provider refuses a part of the request that it
// can do without: earlier reasoning, and the wish for usage in the stream. Waiting and retrying are the host's.
//
// A key is held in a closure and set on the request's header: no value of this package prints it, and it is cut out of
// what a provider says.
package wire
