package peertest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
	"google.golang.org/genai"
)

// library sends the story with an official client library and reads the answer to its end.
type library struct {
	contentType, answer string
	event               string // one delta, for benchmarks
	send                func(ctx context.Context, client *http.Client, model string) error
}

const events = "text/event-stream"

// long is the answer with n more deltas in front.
func (l library) long(n int) string { return strings.Repeat(l.event, n) + l.answer }

var libraries = map[string]library{
	"openai": {
		contentType: events, send: sendChat,
		event:  `data: {"id":"c1","object":"chat.completion.chunk","created":1790000000,"model":"m","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}` + "\n\n",
		answer: `data: {"id":"c1","choices":[{"index":0,"delta":{"content":"."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"responses": {
		contentType: events, send: sendResponse,
		event:  "event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"m1","output_index":0,"content_index":0,"delta":" token","logprobs":[]}` + "\n\n",
		answer: "event: response.completed\n" + `data: {"type":"response.completed","response":{"id":"r1","status":"completed","output":[]}}` + "\n\n",
	},
	"anthropic": {
		contentType: events, send: sendMessage,
		event: "event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" token"}}` + "\n\n",
		answer: "event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}` + "\n\n" +
			"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n",
	},
	"gemini": {
		contentType: events, send: sendContent,
		event:  `data: {"candidates":[{"content":{"parts":[{"text":" token"}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}` + "\r\n\r\n",
		answer: `data: {"candidates":[{"content":{"parts":[{"text":"."}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":9}}` + "\r\n\r\n",
	},
	"ollama": {
		contentType: "application/x-ndjson", send: sendOllama,
		event:  `{"model":"m","created_at":"2026-11-20T09:00:01.001371Z","message":{"role":"assistant","content":" token"},"done":false}` + "\n",
		answer: `{"model":"m","created_at":"2026-11-20T09:00:01.001371Z","message":{"role":"assistant","content":"."},"done":true,"done_reason":"stop"}` + "\n",
	},
}

// parameters is the schema of the tool as a library takes it.
func parameters() map[string]any {
	var p map[string]any
	if err := json.Unmarshal(readTool.Schema, &p); err != nil {
		panic(err)
	}
	return p
}

var picture = "data:image/png;base64," + base64.StdEncoding.EncodeToString(png)

func sendChat(ctx context.Context, client *http.Client, model string) error {
	c := openai.NewClient(openaioption.WithHTTPClient(client), openaioption.WithAPIKey("k"), openaioption.WithBaseURL("http://peer.example/v1/"))
	call := func(id, path string) openai.ChatCompletionMessageToolCallUnionParam {
		return openai.ChatCompletionMessageToolCallUnionParam{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{
			ID: id, Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "read", Arguments: `{"path":"` + path + `"}`},
		}}
	}
	reading := openai.AssistantMessage("Reading.")
	reading.OfAssistant.ToolCalls = []openai.ChatCompletionMessageToolCallUnionParam{call("c1", "a.txt"), call("c2", "b.txt")}
	stream := c.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model: model, Temperature: openai.Float(0.5), TopP: openai.Float(0.9), MaxTokens: openai.Int(1000),
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
		Tools: []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: "read", Description: openai.String("Reads a file."), Parameters: parameters(),
		})},
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage("Be brief."),
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{
				openai.TextContentPart("look [Image #1]"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: picture}),
			}),
			reading, openai.ToolMessage("hi", "c1"), openai.ToolMessage("no such file", "c2"),
			openai.AssistantMessage("One says hi."), openai.UserMessage("thanks"),
		},
	})
	for stream.Next() {
		_ = stream.Current()
	}
	return stream.Err()
}

func sendResponse(ctx context.Context, client *http.Client, model string) error {
	c := openai.NewClient(openaioption.WithHTTPClient(client), openaioption.WithAPIKey("k"), openaioption.WithBaseURL("http://peer.example/v1/"))
	text := func(t string) responses.ResponseInputContentUnionParam {
		return responses.ResponseInputContentParamOfInputText(t)
	}
	said := func(t string) responses.ResponseInputItemUnionParam {
		return responses.ResponseInputItemParamOfOutputMessage([]responses.ResponseOutputMessageContentUnionParam{
			{OfOutputText: &responses.ResponseOutputTextParam{Text: t}},
		}, "", "")
	}
	image := responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String(picture)}}
	output := func(id, text string) responses.ResponseInputItemUnionParam {
		item := responses.ResponseInputItemParamOfFunctionCallOutput(text)
		item.OfFunctionCallOutput.CallID = openai.String(id)
		return item
	}
	tool := responses.ToolParamOfFunction("read", parameters(), false)
	tool.OfFunction.Description = openai.String("Reads a file.")
	stream := c.Responses.NewStreaming(ctx, responses.ResponseNewParams{
		Model: model, Temperature: openai.Float(0.5), TopP: openai.Float(0.9), MaxOutputTokens: openai.Int(1000),
		Store: openai.Bool(false), Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Tools: []responses.ToolUnionParam{tool},
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
			responses.ResponseInputItemParamOfInputMessage(responses.ResponseInputMessageContentListParam{text("Be brief.")}, "system"),
			responses.ResponseInputItemParamOfInputMessage(responses.ResponseInputMessageContentListParam{text("look [Image #1]"), image}, "user"),
			said("Reading."),
			responses.ResponseInputItemParamOfFunctionCall(`{"path":"a.txt"}`, "c1", "read"),
			responses.ResponseInputItemParamOfFunctionCall(`{"path":"b.txt"}`, "c2", "read"),
			output("c1", "hi"), output("c2", "no such file"),
			said("One says hi."),
			responses.ResponseInputItemParamOfInputMessage(responses.ResponseInputMessageContentListParam{text("thanks")}, "user"),
		}},
	})
	for stream.Next() {
		_ = stream.Current()
	}
	return stream.Err()
}

func sendMessage(ctx context.Context, client *http.Client, model string) error {
	c := anthropic.NewClient(anthropicoption.WithHTTPClient(client), anthropicoption.WithAPIKey("k"), anthropicoption.WithBaseURL("http://peer.example/"))
	kept := anthropic.NewCacheControlEphemeralParam()
	thanks := anthropic.NewTextBlock("thanks")
	thanks.OfText.CacheControl = kept
	stream := c.Messages.NewStreaming(ctx, anthropic.MessageNewParams{
		Model: model, MaxTokens: 1000, Temperature: anthropic.Float(0.5), TopP: anthropic.Float(0.9),
		System: []anthropic.TextBlockParam{{Text: "Be brief.", CacheControl: kept}},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "read", Description: anthropic.String("Reads a file."),
			InputSchema: anthropic.ToolInputSchemaParam{Properties: parameters()["properties"], Required: []string{"path"}},
		}}},
		Messages: []anthropic.MessageParam{
			anthropic.NewUserMessage(anthropic.NewTextBlock("look [Image #1]"), anthropic.NewImageBlockBase64("image/png", base64.StdEncoding.EncodeToString(png))),
			anthropic.NewAssistantMessage(anthropic.NewTextBlock("Reading."),
				anthropic.NewToolUseBlock("c1", map[string]any{"path": "a.txt"}, "read"), anthropic.NewToolUseBlock("c2", map[string]any{"path": "b.txt"}, "read")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("c1", "hi", false), anthropic.NewToolResultBlock("c2", "no such file", true)),
			anthropic.NewAssistantMessage(anthropic.NewTextBlock("One says hi.")),
			anthropic.NewUserMessage(thanks),
		},
	})
	for stream.Next() {
		_ = stream.Current()
	}
	return stream.Err()
}

func sendContent(ctx context.Context, client *http.Client, model string) error {
	c, err := genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPClient: client, HTTPOptions: genai.HTTPOptions{BaseURL: "http://peer.example/"},
	})
	if err != nil {
		return err
	}
	call := func(id, path string) *genai.Part {
		return &genai.Part{FunctionCall: &genai.FunctionCall{ID: id, Name: "read", Args: map[string]any{"path": path}}}
	}
	result := func(id, key, text string) *genai.Part {
		return &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: id, Name: "read", Response: map[string]any{key: text}}}
	}
	contents := []*genai.Content{
		{Role: "user", Parts: []*genai.Part{{Text: "look [Image #1]"}, {InlineData: &genai.Blob{MIMEType: "image/png", Data: png}}}},
		{Role: "model", Parts: []*genai.Part{{Text: "Reading."}, call("c1", "a.txt"), call("c2", "b.txt")}},
		{Role: "user", Parts: []*genai.Part{result("c1", "result", "hi"), result("c2", "error", "no such file")}},
		{Role: "model", Parts: []*genai.Part{{Text: "One says hi."}}},
		{Role: "user", Parts: []*genai.Part{{Text: "thanks"}}},
	}
	config := &genai.GenerateContentConfig{
		Temperature: genai.Ptr[float32](0.5), TopP: genai.Ptr[float32](0.9), MaxOutputTokens: 1000,
		SystemInstruction: &genai.Content{Parts: []*genai.Part{{Text: "Be brief."}}},
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: "read", Description: "Reads a file.", Parameters: &genai.Schema{
				Type: genai.TypeObject, Properties: map[string]*genai.Schema{"path": {Type: genai.TypeString}}, Required: []string{"path"},
			},
		}}}},
	}
	for _, err := range c.Models.GenerateContentStream(ctx, model, contents, config) {
		if err != nil {
			return err
		}
	}
	return nil
}

func sendOllama(ctx context.Context, client *http.Client, model string) error {
	c := api.NewClient(&url.URL{Scheme: "http", Host: "peer.example", Path: "/"}, client)
	call := func(index int, path string) api.ToolCall {
		arguments := api.NewToolCallFunctionArguments()
		arguments.Set("path", path)
		return api.ToolCall{Function: api.ToolCallFunction{Index: index, Name: "read", Arguments: arguments}}
	}
	var tool api.Tool
	definition, err := json.Marshal(map[string]any{"type": "function", "function": map[string]any{
		"name": "read", "description": "Reads a file.", "parameters": parameters(),
	}})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(definition, &tool); err != nil {
		return err
	}
	stream := true
	return c.Chat(ctx, &api.ChatRequest{
		Model: model, Stream: &stream, Tools: api.Tools{tool},
		Options: map[string]any{"temperature": 0.5, "top_p": 0.9, "num_predict": 1000},
		Messages: []api.Message{
			{Role: "system", Content: "Be brief."},
			{Role: "user", Content: "look [Image #1]", Images: []api.ImageData{png}},
			{Role: "assistant", Content: "Reading.", ToolCalls: []api.ToolCall{call(0, "a.txt"), call(1, "b.txt")}},
			{Role: "tool", ToolName: "read", Content: "hi"},
			{Role: "tool", ToolName: "read", Content: "Error: no such file"},
			{Role: "assistant", Content: "One says hi."},
			{Role: "user", Content: "thanks"},
		},
	}, func(api.ChatResponse) error { return nil })
}
