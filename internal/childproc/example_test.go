//go:build unix

package childproc_test

import (
	"context"
	"fmt"
	"os"

	"github.com/crystalkernel/crystal/internal/childproc"
)

func ExampleRun() {
	exit, err := childproc.Run(context.Background(), childproc.Command{
		Path: "/bin/sh", Args: []string{"sh", "-c", "echo working; exit 3"}, Stdout: os.Stdout, Stderr: os.Stdout,
	})
	fmt.Println(exit.Code, err)
	// Output:
	// working
	// 3 <nil>
}
