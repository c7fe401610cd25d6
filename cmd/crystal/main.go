// Command crystal is the stock host: the kernel, the built-in tools and protocols, and no plugins. A team that has plugins
// builds a host of its own, with a main function like this one.
package main

import crystalcmd "github.com/crystalkernel/crystal/cmd"

func main() { crystalcmd.Main() }
