// Customhost is a host with plugins of its own: the whole crystal command line, and two plugins more.
//
//	go run ./examples/customhost plugins list
//	go run ./examples/customhost run -y 'use review__add {"text":"the parser change"}'
package main

import (
	crystalcmd "github.com/crystalkernel/crystal/cmd"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewcore"
	"github.com/crystalkernel/crystal/examples/twoplugins/reviewui"
)

func main() { crystalcmd.Main(reviewcore.Plugin, reviewui.Plugin) }
