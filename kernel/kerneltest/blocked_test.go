package kerneltest_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/kernel/kerneltest"
	"github.com/crystalkernel/crystal/plugins"
	"github.com/crystalkernel/crystal/points/model"
)

// stopper is a test that only fails.
type stopper struct {
	testing.TB
	said string
}

func (s *stopper) Fatalf(format string, args ...any) {
	s.said = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestAPluginThatIsNotActiveFailsTheTest(t *testing.T) {
	s := &stopper{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		kerneltest.Start(s, kerneltest.Plugins(plugins.Plugin{
			ID: "acme.x", Version: "1.0.0", Module: fx.Invoke(func(model.Facts) {}),
		}))
	}()
	<-done
	assert.Contains(t, s.said, "the plugin acme.x is blocked: PluginGraphInvalid")
	assert.Contains(t, s.said, "missing type: model.Facts")
}
