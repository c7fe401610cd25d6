//go:build linux

package crystalcmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cpu is what whole processes cost: "cpu-ms/op" is user and system time together.
func cpu(b *testing.B, dir string, name string, args ...string) {
	b.Helper()
	var total time.Duration
	for b.Loop() {
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "CRYSTAL_HOME="+filepath.Join(dir, "home"))
		require.NoError(b, c.Run())
		total += c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(total.Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// stock builds the stock host.
func stock(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "crystal")
	out, err := exec.Command("go", "build", "-o", path, "./crystal").CombinedOutput()
	require.NoError(b, err, string(out))
	return path
}

func BenchmarkVersion(b *testing.B) {
	host := stock(b)
	cpu(b, b.TempDir(), host, "version")
}

// One turn with one call of a tool, on the offline model.
func BenchmarkRunOneCall(b *testing.B) {
	host, dir := stock(b), b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "a.txt"), []byte("hello\n"), 0o600))
	cpu(b, dir, host, "run", "--no-stdin", "read a.txt")
}

// One turn with one command of a shell.
func BenchmarkRunOneCommand(b *testing.B) {
	host, dir := stock(b), b.TempDir()
	cpu(b, dir, host, "run", "--no-stdin", "-y", "$ echo hi")
}
