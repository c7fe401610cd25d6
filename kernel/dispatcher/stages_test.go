package dispatcher_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/kernel/dispatcher"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/tool"
)

func TestACallRunsAndIsRecorded(t *testing.T) {
	seen := &records{}
	h := newHost(t)
	add[dispatch.Recorder](h, dispatch.Recorders, seen)
	h.tools(echo("read"))
	var started []dispatcher.Call
	h.turn.BeforeStart = func(c dispatcher.Call) error { started = append(started, c); return nil }
	o := h.call("read", `{"path":"a.txt"}`)
	assert.Equal(t, model.Success, o.Status)
	assert.True(t, o.Executed)
	assert.True(t, o.Result.Executed)
	assert.Equal(t, `{"path":"a.txt"}`, o.Text)
	assert.Equal(t, "auto", o.Verdict.By)
	assert.Equal(t, tool.Read, o.Classification.Risk)
	assert.False(t, o.Rewritten)
	require.Len(t, started, 1)
	assert.Equal(t, "c1", started[0].ID)
	require.Len(t, seen.starts, 1)
	require.Len(t, seen.ends, 1)
	assert.Equal(t, "full", seen.starts[0].Approval)
	assert.Equal(t, "builtin:tools:builtin:read", seen.starts[0].Definition.Key.String())
}

// FIELD-D8: names that lead nowhere are results like any other.
func TestNamesThatLeadNowhere(t *testing.T) {
	h := newHost(t)
	list := []tool.Registration{says("read", "x")}
	for i := range 40 {
		list = append(list, says(strings.Repeat("n", 60)+string(rune('a'+i%26))+string(rune('a'+i/26)), "x"))
	}
	h.tools(list...)
	for _, name := range []string{"", "bash\n", strings.Repeat("a", 300), "raed", "\x00\xff\"", strings.Repeat("語", 100)} {
		o := h.call(name, `{}`)
		assert.Equal(t, tool.CodeNotFound, code(o), name)
		assert.Equal(t, model.Failure, o.Status)
		assert.False(t, o.Executed)
		assert.LessOrEqual(t, len([]rune(o.Text)), 1000)
		assert.NotContains(t, o.Text, "\n")
		assert.LessOrEqual(t, len(o.Result.Error.Params["name"].(string)), 4*64)
		assert.LessOrEqual(t, strings.Count(o.Text, ","), 20)
	}
	assert.Contains(t, h.call("raed", `{}`).Text, "The nearest are: read, ")
}

// FIELD-D10, TOOL-10: another case finds the one tool, and the record says which name was asked for.
func TestAnotherCaseIsNotedInTheRecord(t *testing.T) {
	h := newHost(t)
	h.tools(says("find", "found"), says("Read2", "x"), says("read2", "y"))
	o := h.call("Find", `{}`)
	assert.Equal(t, "found", o.Text)
	assert.Equal(t, "Find", o.Requested.Name)
	assert.Equal(t, "find", o.Effective.Name)
	o = h.call("READ2", `{}`)
	assert.Equal(t, tool.CodeNotFound, code(o))
	assert.Contains(t, o.Text, "Read2, read2")
}

func TestAudiencesAndExposures(t *testing.T) {
	exposed := func(name string, e tool.Exposure, a tool.Audiences) tool.Registration {
		return says(name, "x", func(r *tool.Registration) { r.Definition.Exposure, r.Definition.Audiences = e, a })
	}
	all := tool.AudienceModel | tool.AudienceHost | tool.AudienceApp
	h := newHost(t)
	h.tools(exposed("open", tool.Direct, all), exposed("plain", "", 0), exposed("secret", tool.Hidden, all), exposed("mine", tool.DirectModelOnly, all),
		says("off", "x", func(r *tool.Registration) { r.Binding.Unavailable, r.Definition.Audiences = true, all }))
	want := map[string][3]string{
		"open": {"", "", ""}, "plain": {"", "", tool.CodeUnauthorized}, "secret": {tool.CodeUnauthorized, "", ""},
		"mine": {"", tool.CodeUnauthorized, tool.CodeUnauthorized}, "off": {tool.CodeUnavailable, tool.CodeUnavailable, tool.CodeUnavailable},
	}
	for name, codes := range want {
		for i, audience := range []tool.Audiences{tool.AudienceModel, tool.AudienceHost, tool.AudienceApp} {
			o := h.dispatcher.Dispatch(context.Background(), h.turn, dispatcher.Request{ID: "c", Name: name, Arguments: "{}", Audience: audience})
			assert.Equal(t, codes[i], code(o), "%s for %s", name, audience)
			switch codes[i] {
			case tool.CodeUnauthorized:
				assert.Equal(t, audience.String(), o.Result.Error.Params["audience"])
				assert.Equal(t, model.Failure, o.Status, "nobody was asked")
			case tool.CodeUnavailable:
				assert.Equal(t, tool.ReasonNotAvailable, o.Result.Error.Params["reason"])
			}
		}
	}
}

// TOOL-4: a masked tool is unknown to every audience.
func TestMaskedToolIsUnknownToEverybody(t *testing.T) {
	h := newHost(t)
	add[tool.Restriction](h, tool.Restrictions, tool.RestrictionFunc(func(_ context.Context, d tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
		return &tool.Edit{Mask: d.Name == "t"}, nil
	}))
	h.tools(says("t", "x"), says("u", "x"))
	for _, audience := range []tool.Audiences{tool.AudienceModel, tool.AudienceHost, tool.AudienceApp} {
		o := h.dispatcher.Dispatch(context.Background(), h.turn, dispatcher.Request{ID: "c", Name: "t", Audience: audience})
		assert.Equal(t, tool.CodeNotFound, code(o))
	}
}

type leaseFunc func() error

func (f leaseFunc) Check(context.Context) error { return f() }

func TestLeases(t *testing.T) {
	var lease func() error
	h := newHost(t)
	h.tools(says("t", "x", func(r *tool.Registration) { r.Binding.Lease = leaseFunc(func() error { return lease() }) }))
	lease = func() error { return errors.New("secret-1") }
	o := h.call("t", `{}`)
	assert.Equal(t, "Error tool_unavailable: The tool is not available.", o.Text)
	assert.Equal(t, tool.ReasonLease, o.Result.Error.Params["reason"])
	assert.Contains(t, h.log.String(), "secret-1")
	lease = func() error { panic("secret-2") }
	assert.Equal(t, tool.CodeUnavailable, code(h.call("t", `{}`)))
	lease = func() error { return contrib.ErrUnavailable }
	assert.Equal(t, tool.ReasonRevoked, h.call("t", `{}`).Result.Error.Params["reason"])
	lease = func() error { return nil }
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

func TestAuthority(t *testing.T) {
	verdict := dispatch.Verdict{}
	h := newHost(t, func(c *dispatcher.Config) {
		c.Authority = func(context.Context, dispatch.Call) dispatch.Verdict { return verdict }
	})
	h.tools(says("t", "x"))
	assert.Equal(t, tool.CodeUnauthorized, code(h.call("t", `{}`)))
	verdict.Code = "host_code"
	assert.Equal(t, "host_code", code(h.call("t", `{}`)))
	verdict.Allow = true
	assert.Equal(t, "x", h.call("t", `{}`).Text)
}

// FIELD-F1, FIELD-F2, FIELD-F4, FIELD-F8, FIELD-F9, FIELD-E9: bad arguments reach nobody.
func TestArguments(t *testing.T) {
	h := newHost(t)
	asked := 0
	add(h, dispatch.Policies, policy(func(dispatch.Call) (dispatch.Verdict, error) { asked++; return dispatch.Allowed(), nil }))
	h.tools(echo("read", schemaOf(`{"properties":{"path":{"type":"string"}},"required":["path"]}`)), echo("any"))
	cases := []struct {
		text, reason string
		offset       any
	}{
		{`{"command":"ls"`, "notJson", 15},
		{`{"path":"a"}}`, "trailingText", 12},
		{`null`, "notObject", nil},
		{`[]`, "notObject", nil},
		{`"a.txt"`, "notObject", nil},
		{`{"path":"a","path":"b"}`, "duplicateKey", 12},
		{`{}`, "schema", nil},
		{``, "schema", nil},
		{`{"path":{"a":1}}`, "schema", nil},
	}
	for _, c := range cases {
		o := h.call("read", c.text)
		assert.Equal(t, tool.CodeInputInvalid, code(o), c.text)
		assert.Equal(t, c.reason, o.Result.Error.Params["reasonCode"], c.text)
		assert.Equal(t, c.offset, o.Result.Error.Params["offset"], c.text)
		assert.Equal(t, c.text, o.Requested.Arguments)
		assert.False(t, o.Executed)
	}
	assert.Zero(t, asked)
	assert.Equal(t, "{}", h.call("any", "").Text)
}

// TOOL-15, FIELD-E6: everybody behind the check sees the coerced arguments; the record keeps the text as it came.
func TestCoercedArgumentsAreSeenByAll(t *testing.T) {
	h := newHost(t)
	var seen []string
	add(h, dispatch.Policies, policy(func(c dispatch.Call) (dispatch.Verdict, error) {
		seen = append(seen, string(c.Arguments))
		return dispatch.Allowed(), nil
	}))
	add[hook.Approval](h, hook.Approvals, hook.ApprovalFunc(func(_ context.Context, c hook.Call, _ tool.Classification) (*hook.Advice, error) {
		seen = append(seen, string(c.Arguments))
		return nil, nil
	}))
	h.tools(echo("count", schemaOf(`{"properties":{"count":{"type":"integer"}},"required":["count"]}`)))
	for text, rule := range map[string]string{`{"count":" 12"}`: "integerFromString", `{"count":12.0}`: "integerNotation"} {
		seen = nil
		o := h.call("count", text)
		assert.Equal(t, `{"count":12}`, o.Text)
		assert.Equal(t, []string{`{"count":12}`, `{"count":12}`}, seen)
		assert.Equal(t, []tool.Coercion{{Pointer: "/count", Rule: rule}}, o.Coercions)
		assert.Equal(t, o.Coercions, o.Result.Coercions)
		assert.Equal(t, text, o.Requested.Arguments)
		assert.Equal(t, `{"count":12}`, o.Effective.Arguments)
		assert.False(t, o.Rewritten)
	}
	o := h.call("count", `{"count":"5x"}`)
	assert.Contains(t, o.Text, "/count")
}
