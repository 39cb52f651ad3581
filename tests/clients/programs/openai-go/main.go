package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

var (
	ctx      = context.Background()
	model    = os.Getenv("MODEL")
	greeting = os.Getenv("GREETING")
	client   = clientOf(os.Getenv("TOLLGATE_KEY"))
	messages = []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Say something.")}
)

var getWeather = openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
	Name:        "get_weather",
	Description: openai.String("Tells the weather of a city."),
	Parameters: shared.FunctionParameters{
		"type":       "object",
		"properties": map[string]any{"city": map[string]string{"type": "string"}},
		"required":   []string{"city"},
	},
})

func clientOf(key string, options ...option.RequestOption) openai.Client {
	base := option.WithBaseURL(os.Getenv("TOLLGATE_URL") + "/v1")
	return openai.NewClient(append([]option.RequestOption{base, option.WithAPIKey(key)}, options...)...)
}

func asked(name string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: name, Messages: messages}
}

// greets fails unless an answer is that of the provider.
func greets(answer *openai.ChatCompletion, err error) error {
	if err != nil {
		return err
	}
	if answer.Choices[0].Message.Content != greeting {
		return errors.New(answer.RawJSON())
	}
	return nil
}

// fails fails unless a request was rejected with this status and code.
func fails(status int, code string, key string, params openai.ChatCompletionNewParams, options ...option.RequestOption) error {
	once := clientOf(key, options...)
	_, err := once.Chat.Completions.New(ctx, params)
	var refused *openai.Error
	if !errors.As(err, &refused) {
		return fmt.Errorf("the call did not fail as an openai.Error: %v", err)
	}
	if refused.StatusCode != status || refused.Code != code {
		return fmt.Errorf("status %d, code %s", refused.StatusCode, refused.Code)
	}
	return nil
}

func chat() error {
	answer, err := client.Chat.Completions.New(ctx, asked(model))
	if err == nil && answer.Usage.CompletionTokens == 0 {
		return errors.New("no usage")
	}
	return greets(answer, err)
}

func stream() error {
	params := asked(model)
	params.StreamOptions.IncludeUsage = openai.Bool(true)
	chunks := client.Chat.Completions.NewStreaming(ctx, params)
	defer chunks.Close()
	var whole openai.ChatCompletionAccumulator
	count := 0
	for chunks.Next() {
		count++
		if !whole.AddChunk(chunks.Current()) {
			return errors.New("a chunk that does not fit")
		}
	}
	if count <= 3 || whole.Usage.CompletionTokens == 0 {
		return fmt.Errorf("%d chunks, %d tokens", count, whole.Usage.CompletionTokens)
	}
	return greets(&whole.ChatCompletion, chunks.Err())
}

func tools() error {
	params := asked(os.Getenv("TOOL_MODEL"))
	params.Tools = []openai.ChatCompletionToolUnionParam{getWeather}
	chunks := client.Chat.Completions.NewStreaming(ctx, params)
	var first openai.ChatCompletionAccumulator
	for chunks.Next() {
		first.AddChunk(chunks.Current())
	}
	if err := chunks.Err(); err != nil {
		return err
	}
	message := first.Choices[0].Message
	call := message.ToolCalls[0]
	var arguments struct{ City string }
	if err := json.Unmarshal([]byte(call.Function.Arguments), &arguments); err != nil {
		return err
	}
	if call.Function.Name != "get_weather" || arguments.City != "text" {
		return fmt.Errorf("called %s with %s", call.Function.Name, call.Function.Arguments)
	}
	params.Messages = append(params.Messages, message.ToParam(), openai.ToolMessage("18 degrees", call.ID))
	second, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	if !strings.Contains(second.Choices[0].Message.Content, "18 degrees") {
		return errors.New(second.RawJSON())
	}
	return nil
}

func secondTurn() error {
	function := getWeather.OfFunction.Function
	params := responses.ResponseNewParams{
		Model: os.Getenv("TOOL_MODEL"),
		Tools: []responses.ToolUnionParam{responses.ToolParamOfFunction(function.Name, function.Parameters, false)},
	}
	for _, question := range []string{"How is the weather?", "And now?"} {
		params.Input = responses.ResponseNewParamsInputUnion{OfString: openai.String(question)}
		asked, err := client.Responses.New(ctx, params)
		if err != nil {
			return err
		}
		call := asked.Output[0].AsFunctionCall()
		result := responses.ResponseInputItemParamOfFunctionCallOutput("18 degrees")
		result.OfFunctionCallOutput.CallID = openai.String(call.CallID)
		params.PreviousResponseID = openai.String(asked.ID)
		params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: []responses.ResponseInputItemUnionParam{result}}
		answer, err := client.Responses.New(ctx, params)
		if err != nil {
			return err
		}
		if !strings.Contains(answer.OutputText(), "18 degrees") {
			return errors.New(answer.RawJSON())
		}
		params.PreviousResponseID = openai.String(answer.ID)
	}
	return nil
}

func schema() error {
	params := asked(model)
	params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
		JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name:   "weather",
			Strict: openai.Bool(true),
			Schema: map[string]any{
				"type": "object",
				"properties": map[string]any{
					"city":    map[string]string{"type": "string"},
					"degrees": map[string]string{"type": "integer"},
				},
				"required":             []string{"city", "degrees"},
				"additionalProperties": false,
			},
		},
	}
	answer, err := client.Chat.Completions.New(ctx, params)
	if err != nil {
		return err
	}
	var weather struct {
		City    string
		Degrees int
	}
	text := answer.Choices[0].Message.Content
	if err := json.Unmarshal([]byte(text), &weather); err != nil {
		return err
	}
	if weather.City != "text" || weather.Degrees != 1 {
		return errors.New(text)
	}
	return nil
}

func embeddings() error {
	answer, err := client.Embeddings.New(ctx, openai.EmbeddingNewParams{
		Model: os.Getenv("EMBEDDING_MODEL"),
		Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("a")},
	})
	if err != nil {
		return err
	}
	var expected []float64
	if err := json.Unmarshal([]byte(os.Getenv("VECTOR")), &expected); err != nil {
		return err
	}
	if !slices.Equal(answer.Data[0].Embedding, expected) {
		return errors.New(answer.RawJSON())
	}
	return nil
}

func speech() error {
	answer, err := client.Audio.Speech.New(ctx, openai.AudioSpeechNewParams{
		Model: os.Getenv("SPEECH_MODEL"),
		Voice: openai.AudioSpeechNewParamsVoiceUnion{OfString: openai.String("alloy")},
		Input: "Hello",
	})
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	sound, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if base64.StdEncoding.EncodeToString(sound) != os.Getenv("SOUND") {
		return fmt.Errorf("%d bytes", len(sound))
	}
	return nil
}

func models() error {
	page := client.Models.ListAutoPaging(ctx)
	isThere := false
	for page.Next() {
		isThere = isThere || page.Current().ID == model
	}
	if err := page.Err(); err != nil || !isThere {
		return fmt.Errorf("not in the list: %v", err)
	}
	found, err := client.Models.Get(ctx, model)
	if err == nil && found.ID != model {
		return errors.New(found.ID)
	}
	return err
}

func retry503() error {
	return greets(client.Chat.Completions.New(ctx, asked(os.Getenv("BUSY_MODEL"))))
}

func retry429() error {
	single := clientOf(os.Getenv("SINGLE_KEY"), option.WithMaxRetries(6))
	chunks := single.Chat.Completions.NewStreaming(ctx, asked(os.Getenv("SLOW_MODEL")))
	defer chunks.Close()
	if !chunks.Next() {
		return chunks.Err()
	}
	return greets(single.Chat.Completions.New(ctx, asked(model)))
}

func abort() error {
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	chunks := client.Chat.Completions.NewStreaming(leaving, asked(os.Getenv("STALLING_MODEL")))
	if !chunks.Next() {
		return chunks.Err()
	}
	return nil
}

func responsesOf() error {
	params := responses.ResponseNewParams{
		Model: model,
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String("Say something.")},
	}
	whole, err := client.Responses.New(ctx, params)
	if err != nil {
		return err
	}
	if whole.OutputText() != greeting {
		return errors.New(whole.RawJSON())
	}
	events := client.Responses.NewStreaming(ctx, params)
	text := ""
	for events.Next() {
		if event := events.Current(); event.Type == "response.output_text.delta" {
			text += event.Delta
		}
	}
	if text != greeting {
		return fmt.Errorf("%s: %v", text, events.Err())
	}
	return nil
}

func main() {
	key := os.Getenv("TOLLGATE_KEY")
	limited := os.Getenv("LIMITED_KEY")
	once := option.WithMaxRetries(0)
	hot := asked(model)
	hot.Temperature = openai.Float(9)
	cases := []struct {
		name string
		run  func() error
	}{
		{"abort", abort},
		{"chat", chat},
		{"stream", stream},
		{"tools", tools},
		{"second-turn", secondTurn},
		{"schema", schema},
		{"embeddings", embeddings},
		{"speech", speech},
		{"models", models},
		{"error-400", func() error { return fails(400, "invalid_request", key, hot, once) }},
		{"error-401", func() error { return fails(401, "invalid_api_key", "sk-wrong", asked(model), once) }},
		{"error-402", func() error {
			return fails(402, "insufficient_credits", os.Getenv("POOR_KEY"), asked(model), once)
		}},
		{"error-404", func() error {
			return fails(404, "model_not_found", key, asked(os.Getenv("UNKNOWN_MODEL")), once)
		}},
		{"error-429", func() error {
			one := clientOf(limited, once)
			if err := greets(one.Chat.Completions.New(ctx, asked(model))); err != nil {
				return err
			}
			return fails(429, "rate_limit_exceeded", limited, asked(model), once)
		}},
		{"retry-503", retry503},
		{"retry-429", retry429},
		{"no-retry", func() error {
			return fails(502, "provider_error", key, asked(os.Getenv("BROKEN_MODEL")))
		}},
		{"responses", responsesOf},
	}
	for _, each := range cases {
		result := map[string]any{"case": each.name, "ok": true}
		if err := each.run(); err != nil {
			result["ok"], result["detail"] = false, err.Error()
		}
		line, _ := json.Marshal(result)
		fmt.Println(string(line))
	}
}
