package export

import "go.uber.org/fx"

// Provide exports what constructor returns as T.
func Provide[T any](constructor any) fx.Option { panic("stub") }

// Supply exports value as T.
func Supply[T any](value T) fx.Option { panic("stub") }

// Import puts the T of the provider into the graph of the plugin.
func Import[T any](providerID string) fx.Option { panic("stub") }
