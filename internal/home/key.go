package home

import "log/slog"

// Key is a secret that never prints itself: every way of printing, logging or encoding it gives the name of its type.
type Key struct {
	value  string
	source string
}

// keyName is all that a key ever prints.
const keyName = "home.Key"

// Reveal returns the secret, for the request that it belongs to and nothing else.
func (k Key) Reveal() string { return k.value }

// Source says where the key was found, without its value; blank when there is none.
func (k Key) Source() string { return k.source }

// Known reports whether there is a key.
func (k Key) Known() bool { return k.value != "" }

// String returns the type name.
func (Key) String() string { return keyName }

// GoString returns the type name.
func (Key) GoString() string { return keyName }

// MarshalText returns the type name.
func (Key) MarshalText() ([]byte, error) { return []byte(keyName), nil }

// LogValue returns the type name.
func (Key) LogValue() slog.Value { return slog.StringValue(keyName) }
