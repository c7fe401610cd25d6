package kernel

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/points/model"
)

// A client serves a request only when all that it was made for is the same: each field counts.
func TestAClientIsOfOneRequest(t *testing.T) {
	typ := reflect.TypeFor[model.ClientRequest]()
	one := 1.0
	for i := range typ.NumField() {
		var plain, other model.ClientRequest
		switch f := reflect.ValueOf(&other).Elem().Field(i); f.Interface().(type) {
		case string:
			f.SetString("x")
		case bool:
			f.SetBool(true)
		case int, time.Duration:
			f.SetInt(1)
		case *float64:
			f.Set(reflect.ValueOf(&one))
		case map[string]string:
			f.Set(reflect.ValueOf(map[string]string{"X-A": "b"}))
		default:
			require.Fail(t, "a field of another type", typ.Field(i).Name)
		}
		assert.False(t, sameClient(&plain, &other), typ.Field(i).Name)
		again := other
		assert.True(t, sameClient(&again, &other), typ.Field(i).Name)
	}
}
