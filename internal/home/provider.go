package home

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/crystalkernel/crystal/internal/home/jsonc"
	"github.com/crystalkernel/crystal/points/model"
)

// Provider is the definition of one provider.
type Provider struct {
	Name                  string
	Protocol              string
	BaseURL               string // blank: the protocol's own
	APIKey                Key    // as written: a key, or where it is; resolved by [Settings.Key]
	APIKeyEnvironment     string
	RequiresKey           bool
	Organization, Project string
	Headers               map[string]string
	RequestTimeout        time.Duration // Unlimited for none
	IdleTimeout           time.Duration // Unlimited for none
	DefaultModel          string
	Scenario              string // offline only: path of a scenario file
	Models                map[string]Model
	Builtin               bool // no file defines it
	Broken                bool // providers.json defines it, and the definition can't be used
}

// Model is what is known about one model.
type Model struct {
	ContextWindow                      int
	MaxTokens                          int // 0: none is sent
	MaxTokensField                     string
	Temperature, TopP                  *float64
	ImageInput, AudioInput, VideoInput bool
	ReplayReasoning                    bool
	StreamUsage                        bool
	Thinking                           []string // gears that the model accepts; nil: the protocol's
	AdaptiveThinking                   bool
}

// OfflineProvider and OfflineModel name the model that needs no network and no key.
const (
	OfflineProvider = "offline"
	OfflineModel    = "rules"
)

const (
	requestTimeout = 10 * time.Minute
	idleTimeout    = 5 * time.Minute
	contextWindow  = 128_000
)

var providerName = regexpOnce(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// regexpOnce compiles a pattern at its first use, so that a start that needs none pays for none.
func regexpOnce(pattern string) func(string) bool {
	var compiled *regexp.Regexp
	return func(text string) bool {
		if compiled == nil {
			compiled = regexp.MustCompile(pattern)
		}
		return compiled.MatchString(text)
	}
}

// Entry returns what is known about a model: its entry, or the defaults.
func (p Provider) Entry(name string) Model {
	if m, ok := p.Models[name]; ok {
		return m
	}
	return defaultModel(p.Protocol)
}

// ModelNames returns the listed models, sorted.
func (p Provider) ModelNames() []string { return slices.Sorted(maps.Keys(p.Models)) }

func defaultModel(protocol string) Model {
	return Model{
		ContextWindow: contextWindow, MaxTokensField: "max_tokens", StreamUsage: true, AdaptiveThinking: true,
		ReplayReasoning: protocol == "deepseek", ImageInput: protocol == OfflineProvider,
	}
}

// builtinProviders returns the definitions that hold without a file.
func builtinProviders() map[string]Provider {
	out := make(map[string]Provider, len(model.BuiltinProtocols))
	for _, name := range model.BuiltinProtocols {
		out[name] = newProvider(name, name, true)
	}
	offline := out[OfflineProvider]
	offline.Models = map[string]Model{OfflineModel: defaultModel(OfflineProvider)}
	out[OfflineProvider] = offline
	return out
}

func newProvider(name, protocol string, builtin bool) Provider {
	return Provider{
		Name: name, Protocol: protocol, Builtin: builtin,
		RequiresKey:    protocol != "ollama" && protocol != OfflineProvider,
		RequestTimeout: requestTimeout, IdleTimeout: idleTimeout,
	}
}

// readProviders adds the definitions of providers.json to those that are built in.
func readProviders(file string, o *jsonc.Object, into map[string]Provider, notes *[]Note) {
	report := func(p jsonc.Problem) { *notes = append(*notes, problemNote(file, p)) }
	f := o.Fields(report)
	f.Known("$schema")
	list, ok := f.Object("providers")
	f.Done()
	if !ok {
		return
	}
	names := list.Fields(report)
	for _, name := range list.Keys() {
		names.Known(name)
		if !providerName(name) {
			names.Bad(name, "a name of letters, digits, _ and -, beginning with a letter, at most 64 characters")
			continue
		}
		definition, ok := names.Object(name)
		if !ok {
			into[name] = Provider{Name: name, Broken: true}
			continue
		}
		into[name] = readProvider(name, definition, report)
	}
}

// readProvider reads one definition. A bad value breaks the definition: what is half understood must not send a key
// somewhere, so neither does the built-in definition of the same name take its place.
func readProvider(name string, o *jsonc.Object, report func(jsonc.Problem)) Provider {
	bad := false
	f := o.Fields(func(p jsonc.Problem) {
		bad = bad || p.Kind == jsonc.BadValue
		report(p)
	})
	protocol, ok := f.Text("protocol")
	switch {
	case ok:
	case slices.Contains(model.BuiltinProtocols, name):
		protocol = name
	default:
		f.Bad("protocol", "one of "+strings.Join(model.BuiltinProtocols, ", ")+", or the token of a plugin's protocol")
	}
	p := newProvider(name, protocol, false)
	if v, ok := f.Text("baseUrl"); ok {
		if u, err := url.Parse(v); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			p.BaseURL = v
		} else {
			f.Bad("baseUrl", "an absolute http or https URL")
		}
	}
	if v, ok := f.Secret("apiKey"); ok {
		p.APIKey = Key{value: v, source: "apiKey of providers.json"}
	}
	set(&p.APIKeyEnvironment)(f.Text("apiKeyEnvironment"))
	set(&p.RequiresKey)(f.Bool("requiresApiKey"))
	set(&p.Organization)(f.Text("organization"))
	set(&p.Project)(f.Text("project"))
	if headers, ok := f.Object("headers"); ok {
		p.Headers = readHeaders(headers, f)
	}
	set(&p.RequestTimeout)(f.DurationOrUnlimited("requestTimeout"))
	set(&p.IdleTimeout)(f.DurationOrUnlimited("idleTimeout"))
	set(&p.DefaultModel)(f.Text("defaultModel"))
	set(&p.Scenario)(f.Text("scenario"))
	if models, ok := f.Object("models"); ok {
		p.Models = readModels(protocol, models, report)
	}
	f.Done()
	p.Broken = bad
	return p
}

// authHeaders are the headers that carry keys in one protocol or another.
var authHeaders = []string{"authorization", "x-api-key", "x-goog-api-key", "proxy-authorization"}

func readHeaders(o *jsonc.Object, f *jsonc.Fields) map[string]string {
	out := make(map[string]string)
	g := o.Fields(f.Reporter())
	for _, name := range o.Keys() {
		value, ok := g.Secret(name)
		if !ok {
			continue
		}
		if slices.Contains(authHeaders, strings.ToLower(name)) {
			f.Reporter()(jsonc.Problem{
				Kind: jsonc.BadValue, Path: o.Path(name), Found: "the header that carries the key",
				Allowed: "any other header; a key belongs into apiKey",
			})
			continue
		}
		out[name] = value
	}
	return out
}

// readModels reads the models of a definition. A bad value costs the whole entry of that model.
func readModels(protocol string, o *jsonc.Object, report func(jsonc.Problem)) map[string]Model {
	out := make(map[string]Model)
	list := o.Fields(report)
	for _, name := range o.Keys() {
		entry, ok := list.Object(name)
		if !ok {
			continue
		}
		bad := false
		f := entry.Fields(func(p jsonc.Problem) {
			bad = bad || p.Kind == jsonc.BadValue
			report(p)
		})
		m := readModel(protocol, f)
		f.Done()
		if !bad {
			out[name] = m
		}
	}
	return out
}

func readModel(protocol string, f *jsonc.Fields) Model {
	m := defaultModel(protocol)
	set(&m.ContextWindow)(f.Integer("contextWindow", 1, 1<<31-1))
	set(&m.MaxTokens)(f.Integer("maxTokens", 1, 1<<31-1))
	set(&m.MaxTokensField)(f.OneOf("maxTokensField", "max_tokens", "max_completion_tokens"))
	number := func(key string, high float64, allowed string) *float64 {
		v, ok := f.Number(key, func(x float64) bool { return x >= 0 && x <= high }, allowed)
		if !ok {
			return nil
		}
		return &v
	}
	m.Temperature = number("temperature", 2, "a number from 0 to 2")
	m.TopP = number("topP", 1, "a number from 0 to 1")
	set(&m.ImageInput)(f.Bool("imageInput"))
	set(&m.AudioInput)(f.Bool("audioInput"))
	set(&m.VideoInput)(f.Bool("videoInput"))
	set(&m.ReplayReasoning)(f.Bool("replayReasoningContent"))
	set(&m.StreamUsage)(f.Bool("streamUsage"))
	if gears, ok := f.TextsThat("thinking", ValidGear, "a gear"); ok {
		for i, g := range gears {
			gears[i] = strings.ToLower(g)
		}
		m.Thinking = gears
	}
	set(&m.AdaptiveThinking)(f.Bool("adaptiveThinking"))
	return m
}
