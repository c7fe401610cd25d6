// Package wiretest plays a provider for the tests of protocols. A [Server] is a transport that answers without a
// network, so that it works inside of synctest; [Cases] reads recorded streams with what they have to yield, and [Play]
// runs a client against one of them.
package wiretest
