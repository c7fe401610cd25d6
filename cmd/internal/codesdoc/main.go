// Command codesdoc writes docs/codes.md from the codes of the command line.
package main

import (
	"bytes"
	"flag"
	"log"
	"os"

	crystalcmd "github.com/crystalkernel/crystal/cmd"
)

func main() {
	out := flag.String("o", "", "file to write")
	flag.Parse()
	var b bytes.Buffer
	if err := crystalcmd.WriteCodes(&b); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, b.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
