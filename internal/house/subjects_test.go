package house_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"go.uber.org/fx"

	"github.com/crystalkernel/crystal/contrib"
	"github.com/crystalkernel/crystal/points/agent"
	"github.com/crystalkernel/crystal/points/command"
	"github.com/crystalkernel/crystal/points/compaction"
	"github.com/crystalkernel/crystal/points/dispatch"
	"github.com/crystalkernel/crystal/points/generator"
	"github.com/crystalkernel/crystal/points/hook"
	"github.com/crystalkernel/crystal/points/host"
	"github.com/crystalkernel/crystal/points/model"
	"github.com/crystalkernel/crystal/points/prompt"
	"github.com/crystalkernel/crystal/points/rawhook"
	"github.com/crystalkernel/crystal/points/status"
	"github.com/crystalkernel/crystal/points/subagent"
	"github.com/crystalkernel/crystal/points/thread"
	"github.com/crystalkernel/crystal/points/tool"
	"github.com/crystalkernel/crystal/points/trace"
)

// behaviour is what a contribution does when it is called. With refuse it has to return what its contract forbids.
type behaviour func(ctx context.Context) (refuse bool, err error)

// subject is one contribution to one point.
type subject struct {
	point   contrib.AnyPoint
	add     func(b behaviour, opts ...contrib.Option) fx.Option
	typed   func() fx.Option // a nil pointer in the interface of the point; nil: its values are data
	refuses bool             // the contract forbids something that it can return
	place   string           // where it fails, if the point has several places; blank: the usual one
}

func (s subject) name() string { return s.point.Name() + s.place }

// of describes a contribution to a point: make makes the value, null is a nil pointer that has the methods of T.
func of[T any](p *contrib.Point[T], null T, refuses bool, make func(b behaviour) T) subject {
	return subject{
		point: p,
		add: func(b behaviour, opts ...contrib.Option) fx.Option {
			if p.Info().Tiers == contrib.TierB {
				opts = append(opts, contrib.Order(1000)) // the last one has authority
			}
			return contrib.Supply(p, make(b), opts...)
		},
		typed:   func() fx.Option { return contrib.Supply(p, null) },
		refuses: refuses,
	}
}

// inARound is a subject that fails while a model is asked.
func inARound(s subject) subject {
	s.place = ", in a round"
	return s
}

// large is more than any text may have.
var large = strings.Repeat("x", 300<<10)

// subjects are contributions to every point of the catalog.
func subjects() []subject {
	return []subject{
		of[tool.Source](tool.Sources, (*sourceStub)(nil), false, func(b behaviour) tool.Source { return &sourceStub{b} }),
		of[tool.Restriction](tool.Restrictions, tool.RestrictionFunc(nil), false, func(b behaviour) tool.Restriction {
			return tool.RestrictionFunc(func(ctx context.Context, _ tool.Definition, _ tool.Exposure, _ tool.Planning) (*tool.Edit, error) {
				_, err := b(ctx)
				return nil, err
			})
		}),
		of[tool.Classifier](tool.Classifiers, tool.ClassifierFunc(nil), true, func(b behaviour) tool.Classifier {
			return tool.ClassifierFunc(func(ctx context.Context, _ tool.Call, _ string) (tool.Classification, bool, error) {
				refuse, err := b(ctx)
				return tool.Classification{Risk: 99}, refuse, err
			})
		}),
		of[prompt.Section](prompt.Sections, (*sectionStub)(nil), true, func(b behaviour) prompt.Section { return &sectionStub{b} }),
		of[prompt.Assembler](prompt.Assemblers, prompt.AssemblerFunc(nil), false, func(b behaviour) prompt.Assembler {
			return prompt.AssemblerFunc(func(ctx context.Context, _ string, _ prompt.Context) (*string, error) {
				_, err := b(ctx)
				return nil, err
			})
		}),
		of[prompt.ChatContext](prompt.ChatContexts, (*chatStub)(nil), true, func(b behaviour) prompt.ChatContext { return &chatStub{b} }),
		of[prompt.ThreadContext](prompt.ThreadContexts, (*pageStub)(nil), true, func(b behaviour) prompt.ThreadContext {
			return prompt.ThreadContextFunc("probe", func(ctx context.Context, _ string) (string, error) { return sized(b(ctx)) })
		}),
		of[prompt.Placeholder](prompt.Placeholders, (*placeholderStub)(nil), true, func(b behaviour) prompt.Placeholder { return &placeholderStub{b} }),
		of[agent.Source](agent.Contexts, agent.SourceFunc(nil), true, func(b behaviour) agent.Source {
			return agent.SourceFunc(func(context.Context, agent.Request) (agent.Provider, error) {
				return agent.ProviderFunc(func(ctx context.Context, c agent.Context) (*agent.Context, error) {
					refuse, err := b(ctx)
					if err != nil || !refuse {
						return nil, err
					}
					c.Messages = append(c.Messages, &model.Item{Kind: model.Message, Role: model.User, Text: "mine"})
					return &c, nil
				}), nil
			})
		}),
		of[model.Middleware](model.Middlewares, (*middlewareStub)(nil), false, func(b behaviour) model.Middleware { return &middlewareStub{b} }),
		inARound(of[model.Middleware](model.Middlewares, (*middlewareStub)(nil), false, func(b behaviour) model.Middleware {
			return model.MiddlewareFunc("probe", func(_ context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
				return model.ClientFunc(func(ctx context.Context, r *model.Request, emit func(model.Delta) error) (*model.Response, error) {
					if _, err := b(ctx); err != nil {
						return nil, err
					}
					return next.Round(ctx, r, emit)
				}), nil
			})
		})),
		of[model.ClientFactory](model.Protocols, (*factoryStub)(nil), false, func(b behaviour) model.ClientFactory { return &factoryStub{b} }),
		of[dispatch.Policy](dispatch.Policies, dispatch.PolicyFunc(nil), true, func(b behaviour) dispatch.Policy {
			return dispatch.PolicyFunc(func(ctx context.Context, _ dispatch.Call) (dispatch.Verdict, error) { return verdict(b(ctx)) })
		}),
		of[dispatch.Approver](dispatch.Approvers, dispatch.ApproverFunc(nil), true, func(b behaviour) dispatch.Approver {
			return dispatch.ApproverFunc(func(ctx context.Context, _ dispatch.Call) (dispatch.Verdict, error) { return verdict(b(ctx)) })
		}),
		of[dispatch.Recorder](dispatch.Recorders, (*recorderStub)(nil), false, func(b behaviour) dispatch.Recorder { return &recorderStub{b} }),
		of[dispatch.Normalizer](dispatch.Normalizers, dispatch.NormalizerFunc(nil), true, func(b behaviour) dispatch.Normalizer {
			return dispatch.NormalizerFunc(func(ctx context.Context, _ dispatch.Call, _ tool.Result) (*tool.Result, error) {
				refuse, err := b(ctx)
				if err != nil || !refuse {
					return nil, err
				}
				return &tool.Result{Failed: true}, nil // without an error
			})
		}),
		of[thread.Observer](thread.Observers, (*threadStub)(nil), false, func(b behaviour) thread.Observer { return &threadStub{b} }),
		of[thread.TurnObserver](thread.TurnObservers, (*turnStub)(nil), false, func(b behaviour) thread.TurnObserver { return &turnStub{b} }),
		of[thread.SignalObserver](thread.Signals, thread.SignalFunc(nil), false, func(b behaviour) thread.SignalObserver {
			return thread.SignalFunc(func(ctx context.Context, _ thread.Signal) error { return only(b(ctx)) })
		}),
		of[command.Prompt](command.Prompts, (*promptStub)(nil), true, func(b behaviour) command.Prompt { return &promptStub{b: b} }),
		of[command.Action](command.Actions, (*actionStub)(nil), false, func(b behaviour) command.Action { return &actionStub{b: b} }),
		of[compaction.Summarizer](compaction.Summarizers, compaction.SummarizerFunc(nil), true, func(b behaviour) compaction.Summarizer {
			return compaction.SummarizerFunc(func(ctx context.Context, _ compaction.Request) (*compaction.Summary, error) {
				refuse, err := b(ctx)
				if err != nil || !refuse {
					return &compaction.Summary{Text: "a summary of the probe"}, err
				}
				return &compaction.Summary{Text: "x", Keep: []string{"nobody"}}, nil
			})
		}),
		of[compaction.ToolPolicy](compaction.ToolPolicies, (*toolPolicyStub)(nil), false, func(b behaviour) compaction.ToolPolicy {
			return compaction.ToolPolicyFunc("probe", func(ctx context.Context, _ string) (yes, known bool, err error) {
				_, err = b(ctx)
				return false, false, err
			})
		}),
		of[subagent.Source](subagent.Runtimes, (*runtimeStub)(nil), false, func(b behaviour) subagent.Source { return &runtimeStub{b} }),
		of[trace.Sink](trace.Sinks, (*sinkStub)(nil), false, func(b behaviour) trace.Sink { return &sinkStub{b} }),
		of[generator.CommitMessageGenerator](generator.CommitMessages, generator.CommitMessageFunc(nil), false, func(b behaviour) generator.CommitMessageGenerator {
			return generator.CommitMessageFunc(func(ctx context.Context, _ generator.CommitRequest) (*generator.CommitMessage, error) {
				_, err := b(ctx)
				return &generator.CommitMessage{Title: "probe"}, err
			})
		}),
		of[generator.WelcomeGenerator](generator.Welcomes, (*welcomeStub)(nil), false, func(b behaviour) generator.WelcomeGenerator { return &welcomeStub{b} }),
		of[host.Attached](host.Attachments, host.AttachedFunc(nil), false, func(b behaviour) host.Attached {
			return host.AttachedFunc(func(ctx context.Context, _ host.Environment) error { return only(b(ctx)) })
		}),
		// A field is data: what is called is the work of the plugin that fills it.
		{point: status.Fields, add: func(_ behaviour, opts ...contrib.Option) fx.Option {
			return fx.Options(
				contrib.Supply(status.Fields, status.Field{Name: "probe", Description: "A field of a test."}, opts...),
				fx.Invoke(func(u status.Updates) { u.Set("probe", "green") }))
		}},
		of[hook.SessionObserver](hook.Sessions, (*sessionStub)(nil), false, func(b behaviour) hook.SessionObserver { return &sessionStub{b} }),
		of[hook.Prompt](hook.Prompts, hook.PromptFunc(nil), false, func(b behaviour) hook.Prompt {
			return hook.PromptFunc(func(ctx context.Context, _ hook.PromptInfo, _ string) (string, error) { return "", only(b(ctx)) })
		}),
		of[hook.UserMessage](hook.UserMessages, hook.UserMessageFunc(nil), false, func(b behaviour) hook.UserMessage {
			return hook.UserMessageFunc(func(ctx context.Context, _ hook.Scope, _ string) (string, bool, error) {
				return "", false, only(b(ctx))
			})
		}),
		of[hook.TurnObserver](hook.Turns, (*hookTurnStub)(nil), false, func(b behaviour) hook.TurnObserver { return &hookTurnStub{b} }),
		of[hook.TransformModel](hook.TransformModels, hook.TransformModelFunc(nil), true, func(b behaviour) hook.TransformModel {
			return hook.TransformModelFunc(func(ctx context.Context, r hook.Request) ([]hook.Item, error) { return fewer(ctx, b, r.Items) })
		}),
		of[hook.ModelResponse](hook.ModelResponses, hook.ModelResponseFunc(nil), false, func(b behaviour) hook.ModelResponse {
			return hook.ModelResponseFunc(func(ctx context.Context, _ hook.Response) error { return only(b(ctx)) })
		}),
		of[hook.ToolCall](hook.ToolCalls, hook.ToolCallFunc(nil), true, func(b behaviour) hook.ToolCall {
			return hook.ToolCallFunc(func(ctx context.Context, c hook.Call) (*hook.Call, error) {
				refuse, err := b(ctx)
				if err != nil || !refuse {
					return nil, err
				}
				c.ID = "another"
				return &c, nil
			})
		}),
		of[hook.ToolResult](hook.ToolResults, hook.ToolResultFunc(nil), true, func(b behaviour) hook.ToolResult {
			return hook.ToolResultFunc(func(ctx context.Context, _ hook.Call, r hook.Result) (*hook.Result, error) {
				refuse, err := b(ctx)
				if err != nil || !refuse {
					return nil, err
				}
				r.Success = !r.Success
				return &r, nil
			})
		}),
		of[hook.Approval](hook.Approvals, hook.ApprovalFunc(nil), true, func(b behaviour) hook.Approval {
			return hook.ApprovalFunc(func(ctx context.Context, _ hook.Call, _ tool.Classification) (*hook.Advice, error) {
				refuse, err := b(ctx)
				if err != nil || !refuse {
					return nil, err
				}
				unknown := tool.Risk(99)
				return &hook.Advice{Risk: &unknown}, nil
			})
		}),
		of[hook.Compaction](hook.Compactions, hook.CompactionFunc(nil), false, func(b behaviour) hook.Compaction {
			return hook.CompactionFunc(func(ctx context.Context, _ hook.Scope, _ hook.Phase, _ string) (string, error) {
				return "", only(b(ctx))
			})
		}),
		of[rawhook.RebuildModel](rawhook.RebuildModels, rawhook.RebuildModelFunc(nil), true, func(b behaviour) rawhook.RebuildModel {
			return rawhook.RebuildModelFunc(func(ctx context.Context, r hook.Request) ([]hook.Item, error) { return fewer(ctx, b, r.Items[:0]) })
		}),
		of[rawhook.RewritePrompt](rawhook.RewritePrompts, rawhook.RewritePromptFunc(nil), false, func(b behaviour) rawhook.RewritePrompt {
			return rawhook.RewritePromptFunc(func(ctx context.Context, _ hook.PromptInfo, _ string) (*string, error) { return nil, only(b(ctx)) })
		}),
		of[rawhook.RewriteCompaction](rawhook.RewriteCompactions, rawhook.RewriteCompactionFunc(nil), false, func(b behaviour) rawhook.RewriteCompaction {
			return rawhook.RewriteCompactionFunc(func(ctx context.Context, _ hook.Scope, _ hook.Phase, _ string) (*string, error) {
				return nil, only(b(ctx))
			})
		}),
		of[rawhook.RewriteApproval](rawhook.RewriteApprovals, rawhook.RewriteApprovalFunc(nil), true, func(b behaviour) rawhook.RewriteApproval {
			return rawhook.RewriteApprovalFunc(func(ctx context.Context, _ hook.Call, c tool.Classification) (*tool.Classification, error) {
				refuse, err := b(ctx)
				if err != nil || !refuse {
					return nil, err
				}
				c.Risk = 99
				return &c, nil
			})
		}),
	}
}

func only(_ bool, err error) error { return err }

// fewer returns one item less than there are: no request may become empty, and an ordinary hook may leave none out.
func fewer(ctx context.Context, b behaviour, items []hook.Item) ([]hook.Item, error) {
	refuse, err := b(ctx)
	if err != nil || !refuse {
		return nil, err
	}
	return items[:max(len(items)-1, 0)], nil
}

// verdict allows, or says with a code that no result may have that it does not.
func verdict(refuse bool, err error) (dispatch.Verdict, error) {
	if refuse {
		return dispatch.Denied("two words", " "), err
	}
	return dispatch.Allowed(), err
}

type sourceStub struct{ b behaviour }

func (s *sourceStub) SourceID() string { return "probe" }
func (s *sourceStub) Tools(ctx context.Context, _ tool.Planning) ([]tool.Registration, error) {
	if _, err := s.b(ctx); err != nil {
		return nil, err
	}
	return []tool.Registration{{
		Definition: tool.Definition{
			ID: "probed", Name: "probed", Description: "A tool of a test.", Catalogs: tool.CatalogBoth, Hints: &tool.Hints{ReadOnly: true},
			InputSchema: json.RawMessage(`{"type":"object"}`),
		},
		Binding: tool.Binding{Runtime: tool.RuntimeFunc(func(context.Context, tool.Invocation) (tool.Result, error) { return tool.Text("probed"), nil })},
	}}, nil
}

type sectionStub struct{ b behaviour }

func (s *sectionStub) Name() string { return "probe" }
func (s *sectionStub) Content(ctx context.Context, _ prompt.Context) (string, error) {
	return sized(s.b(ctx))
}

// sized is a short text, or one that is too long.
func sized(refuse bool, err error) (string, error) {
	if refuse {
		return large, err
	}
	return "from the probe", err
}

type chatStub struct{ b behaviour }

func (s *chatStub) Section(ctx context.Context, _ prompt.Chat) (string, error) {
	return sized(s.b(ctx))
}

func (s *chatStub) RuntimeLines(context.Context, prompt.Chat) ([]string, error) {
	return nil, nil
}

type pageStub struct{ b behaviour }

func (s *pageStub) PageKey() string { return "probe" }
func (s *pageStub) Section(ctx context.Context, _ string) (string, error) {
	return sized(s.b(ctx))
}

type placeholderStub struct{ b behaviour }

func (s *placeholderStub) Name() string { return "probe" }
func (s *placeholderStub) Resolve(ctx context.Context, _ prompt.Binding) (string, error) {
	return sized(s.b(ctx))
}

type middlewareStub struct{ b behaviour }

func (s *middlewareStub) Name() string { return "probe" }
func (s *middlewareStub) Wrap(ctx context.Context, next model.Client, _ model.PipelineInfo) (model.Client, error) {
	return next, only(s.b(ctx))
}

type factoryStub struct{ b behaviour }

func (s *factoryStub) CanCreate(protocol string) bool { return protocol == "probe" }
func (s *factoryStub) Create(ctx context.Context, _ model.ClientRequest) (model.Client, error) {
	if _, err := s.b(ctx); err != nil {
		return nil, err
	}
	return model.ClientFunc(func(_ context.Context, _ *model.Request, emit func(model.Delta) error) (*model.Response, error) {
		var a model.Assembler
		for _, d := range []model.Delta{{Kind: model.TextDelta, Text: "from the probe"}, {Kind: model.FinishDelta, Finish: model.FinishStop}} {
			if err := a.Add(d); err != nil {
				return nil, err
			}
			if err := emit(d); err != nil {
				return nil, err
			}
		}
		return a.Response()
	}), nil
}

func (s *factoryStub) CreateMultimodal(context.Context, model.ClientRequest) (model.Client, error) {
	return nil, nil
}

type recorderStub struct{ b behaviour }

func (s *recorderStub) Started(ctx context.Context, _ dispatch.Call) error { return only(s.b(ctx)) }
func (s *recorderStub) Ended(ctx context.Context, _ dispatch.Call, _ tool.Result, _ time.Duration) error {
	return only(s.b(ctx))
}

type threadStub struct{ b behaviour }

func (s *threadStub) Started(ctx context.Context, _ thread.Info) error  { return only(s.b(ctx)) }
func (s *threadStub) Resumed(ctx context.Context, _ thread.Info) error  { return only(s.b(ctx)) }
func (s *threadStub) Deleting(ctx context.Context, _ thread.Info) error { return only(s.b(ctx)) }

type turnStub struct{ b behaviour }

func (s *turnStub) TurnStarted(ctx context.Context, _ thread.Turn) error { return only(s.b(ctx)) }
func (s *turnStub) TurnEnded(ctx context.Context, _ thread.Turn, _ thread.Status, _ error) error {
	return only(s.b(ctx))
}

type promptStub struct {
	commandStub
	b behaviour
}

func (s *promptStub) Expand(ctx context.Context, _ command.Invocation) (string, bool, error) {
	text, err := sized(s.b(ctx))
	return text, true, err
}

type commandStub struct{}

func (commandStub) Name() string        { return "probe" }
func (commandStub) Aliases() []string   { return nil }
func (commandStub) Description() string { return "A command of a test." }

type actionStub struct {
	commandStub
	b behaviour
}

func (s *actionStub) Name() string { return "act" }
func (s *actionStub) Execute(ctx context.Context, _ string, out command.Output) error {
	if _, err := s.b(ctx); err != nil {
		return err
	}
	return out.Write("acted")
}

type toolPolicyStub struct{ b behaviour }

func (s *toolPolicyStub) Name() string { return "probe" }
func (s *toolPolicyStub) Compactable(ctx context.Context, _ string) (yes, known bool, err error) {
	_, err = s.b(ctx)
	return false, false, err
}

type runtimeStub struct{ b behaviour }

func (s *runtimeStub) Runtime() subagent.Runtime { return s }
func (s *runtimeStub) Profiles() []subagent.Profile {
	return []subagent.Profile{{Name: "probe", Description: "A profile of a test."}}
}
func (s *runtimeStub) Type() string { return "probe" }
func (s *runtimeStub) Create(ctx context.Context, _ subagent.Spec) (subagent.Session, error) {
	if _, err := s.b(ctx); err != nil {
		return nil, err
	}
	return sessionOfProbe{}, nil
}

type sessionOfProbe struct{}

func (sessionOfProbe) Run(context.Context, subagent.Input, func(subagent.Event) error) (*subagent.Outcome, error) {
	return &subagent.Outcome{Text: "from the probe"}, nil
}
func (sessionOfProbe) Cancel(context.Context) error { return nil }
func (sessionOfProbe) Close(context.Context) error  { return nil }

type sinkStub struct{ b behaviour }

func (s *sinkStub) Name() string                                    { return "probe" }
func (s *sinkStub) Record(ctx context.Context, _ trace.Event) error { return only(s.b(ctx)) }

type welcomeStub struct{ b behaviour }

func (s *welcomeStub) Suggest(ctx context.Context, _ generator.WelcomeRequest) ([]generator.Suggestion, error) {
	_, err := s.b(ctx)
	return []generator.Suggestion{{Text: "probe"}}, err
}
func (s *welcomeStub) Schedule(context.Context, string) error { return nil }
func (s *welcomeStub) Clear(context.Context, string) error    { return nil }

type sessionStub struct{ b behaviour }

func (s *sessionStub) SessionStarted(ctx context.Context, _ hook.Session) error {
	return only(s.b(ctx))
}

func (s *sessionStub) SessionEnded(ctx context.Context, _ hook.Session) error { return only(s.b(ctx)) }

type hookTurnStub struct{ b behaviour }

func (s *hookTurnStub) TurnStarted(ctx context.Context, _ hook.Turn) error { return only(s.b(ctx)) }

func (s *hookTurnStub) TurnFinished(ctx context.Context, _ hook.Turn) error { return only(s.b(ctx)) }
