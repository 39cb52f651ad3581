import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.http.HttpResponse;
import com.openai.core.http.StreamResponse;
import com.openai.errors.BadRequestException;
import com.openai.errors.InternalServerException;
import com.openai.errors.NotFoundException;
import com.openai.errors.OpenAIServiceException;
import com.openai.errors.RateLimitException;
import com.openai.errors.UnauthorizedException;
import com.openai.errors.UnexpectedStatusCodeException;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionFunctionTool;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.audio.speech.SpeechCreateParams;
import com.openai.models.embeddings.EmbeddingCreateParams;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseStreamEvent;
import java.util.Base64;
import java.util.List;
import java.util.Map;

public class Main {
    static final String url = System.getenv("TOLLGATE_URL") + "/v1";
    static final String key = System.getenv("TOLLGATE_KEY");
    static final String model = System.getenv("MODEL");
    static final String greeting = System.getenv("GREETING");
    static final OpenAIClient client = OpenAIOkHttpClient.builder().baseUrl(url).apiKey(key).build();

    public static class Weather {
        public String city;
        public int degrees;
    }

    public static class Place {
        public String city;
    }

    interface Case {
        void run() throws Exception;
    }

    static OpenAIClient clientOf(String apiKey, int retries) {
        return OpenAIOkHttpClient.builder().baseUrl(url).apiKey(apiKey).maxRetries(retries).build();
    }

    static ChatCompletionCreateParams.Builder asked(String name) {
        return ChatCompletionCreateParams.builder().model(name).addUserMessage("Say something.");
    }

    static void expect(boolean isSo, Object what) {
        if (!isSo) throw new IllegalStateException(String.valueOf(what));
    }

    static void greets(ChatCompletion answer) {
        expect(answer.choices().get(0).message().content().orElse("").equals(greeting), answer);
    }

    /** The call must fail with this class, and this code where its body is an error. */
    static void fails(Class<? extends OpenAIServiceException> type, String code, Case call) throws Exception {
        try {
            call.run();
        } catch (OpenAIServiceException error) {
            expect(type.isInstance(error), error.getClass().getSimpleName() + ", not " + type.getSimpleName());
            expect(error.code().orElse("").equals(code), error);
            return;
        }
        throw new IllegalStateException("the call did not fail");
    }

    static void refused(Class<? extends OpenAIServiceException> type, String code, String apiKey, String name)
            throws Exception {
        fails(type, code, () -> clientOf(apiKey, 0).chat().completions().create(asked(name).build()));
    }

    static void chat() {
        ChatCompletion answer = client.chat().completions().create(asked(model).build());
        greets(answer);
        expect(answer.usage().orElseThrow().completionTokens() > 0, "no usage");
        expect(answer.created() > 0 && !answer.id().isEmpty() && answer.model().equals(model), answer);
    }

    static void stream() {
        ChatCompletionCreateParams params = asked(model)
                .streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build())
                .build();
        ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> chunks = client.chat().completions().createStreaming(params)) {
            // Throws where a field required by the API's description is absent.
            long count = chunks.stream().peek(whole::accumulate).peek(ChatCompletionChunk::validate).count();
            expect(count > 3, count);
        }
        greets(whole.chatCompletion());
        expect(whole.chatCompletion().usage().orElseThrow().completionTokens() > 0, "no usage");
    }

    static void tools() {
        ChatCompletionFunctionTool getWeather = ChatCompletionFunctionTool.builder()
                .function(FunctionDefinition.builder()
                        .name("get_weather")
                        .description("Tells the weather of a city.")
                        .parameters(FunctionParameters.builder()
                                .putAdditionalProperty("type", JsonValue.from("object"))
                                .putAdditionalProperty(
                                        "properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
                                .putAdditionalProperty("required", JsonValue.from(List.of("city")))
                                .build())
                        .build())
                .build();
        ChatCompletionCreateParams params =
                asked(System.getenv("TOOL_MODEL")).addTool(getWeather).build();
        ChatCompletionAccumulator whole = ChatCompletionAccumulator.create();
        try (StreamResponse<ChatCompletionChunk> chunks = client.chat().completions().createStreaming(params)) {
            chunks.stream().forEach(whole::accumulate);
        }
        var message = whole.chatCompletion().choices().get(0).message();
        var call = message.toolCalls().orElseThrow().get(0).asFunction();
        expect(call.function().name().equals("get_weather"), call);
        expect(call.function().arguments(Place.class).city.equals("text"), call);
        ChatCompletionToolMessageParam result = ChatCompletionToolMessageParam.builder()
                .toolCallId(call.id())
                .content("18 degrees")
                .build();
        ChatCompletion second = client.chat()
                .completions()
                .create(params.toBuilder().addMessage(message).addMessage(result).build());
        expect(second.choices().get(0).message().content().orElse("").contains("18 degrees"), second);
    }

    static void secondTurn() {
        FunctionTool getWeather = FunctionTool.builder()
                .name("get_weather")
                .description("Tells the weather of a city.")
                .parameters(FunctionTool.Parameters.builder()
                        .putAdditionalProperty("type", JsonValue.from("object"))
                        .putAdditionalProperty(
                                "properties", JsonValue.from(Map.of("city", Map.of("type", "string"))))
                        .putAdditionalProperty("required", JsonValue.from(List.of("city")))
                        .build())
                .strict(false)
                .build();
        String previous = null;
        for (String question : List.of("How is the weather?", "And now?")) {
            var about = ResponseCreateParams.builder().model(System.getenv("TOOL_MODEL")).addTool(getWeather);
            if (previous != null) about.previousResponseId(previous);
            Response asked = client.responses().create(about.input(question).build());
            var call = asked.output().get(0).asFunctionCall();
            var result = ResponseInputItem.ofFunctionCallOutput(ResponseInputItem.FunctionCallOutput.builder()
                    .callId(call.callId())
                    .output("18 degrees")
                    .build());
            Response answer = client.responses().create(about.previousResponseId(asked.id())
                    .inputOfResponse(List.of(result))
                    .build());
            String text = answer.output().get(0).asMessage().content().get(0).asOutputText().text();
            expect(text.contains("18 degrees"), answer);
            previous = answer.id();
        }
    }

    static void schema() {
        var params = asked(model).responseFormat(Weather.class).build();
        Weather weather = client.chat().completions().create(params).choices().stream()
                .flatMap(choice -> choice.message().content().stream())
                .findFirst()
                .orElseThrow();
        expect(weather.city.equals("text") && weather.degrees == 1, weather.city + weather.degrees);
    }

    static void speech() throws Exception {
        SpeechCreateParams params = SpeechCreateParams.builder()
                .model(System.getenv("SPEECH_MODEL"))
                .voice("alloy")
                .input("Hello")
                .build();
        try (HttpResponse answer = client.audio().speech().create(params)) {
            byte[] sound = answer.body().readAllBytes();
            expect(Base64.getEncoder().encodeToString(sound).equals(System.getenv("SOUND")), sound.length + " bytes");
        }
    }

    static void embeddings() {
        List<Float> vector = client.embeddings()
                .create(EmbeddingCreateParams.builder()
                        .model(System.getenv("EMBEDDING_MODEL"))
                        .input("a")
                        .build())
                .data()
                .get(0)
                .embedding();
        String[] expected = System.getenv("VECTOR").replaceAll("[\\[\\]]", "").split(",");
        expect(vector.size() == expected.length, vector);
        for (int index = 0; index < expected.length; index++) {
            expect(vector.get(index) == Float.parseFloat(expected[index]), vector);
        }
    }

    static void models() {
        expect(client.models().list().autoPager().stream().anyMatch(each -> each.id().equals(model)), "not in the list");
        expect(client.models().retrieve(model).id().equals(model), "another model");
    }

    static void retry429() {
        OpenAIClient single = clientOf(System.getenv("SINGLE_KEY"), 6);
        var slow = asked(System.getenv("SLOW_MODEL")).build();
        try (StreamResponse<ChatCompletionChunk> chunks = single.chat().completions().createStreaming(slow)) {
            chunks.stream().findFirst();
            greets(single.chat().completions().create(asked(model).build()));
        }
    }

    static void abort() {
        var stalling = asked(System.getenv("STALLING_MODEL")).build();
        try (StreamResponse<ChatCompletionChunk> chunks = client.chat().completions().createStreaming(stalling)) {
            chunks.stream().findFirst();
        }
    }

    static void responses() {
        ResponseCreateParams params =
                ResponseCreateParams.builder().model(model).input("Say something.").build();
        String text = client.responses().create(params).output().stream()
                .flatMap(item -> item.message().stream())
                .flatMap(message -> message.content().stream())
                .map(content -> content.asOutputText().text())
                .reduce("", String::concat);
        expect(text.equals(greeting), text);
        try (StreamResponse<ResponseStreamEvent> events = client.responses().createStreaming(params)) {
            String streamed = events.stream()
                    .flatMap(event -> event.outputTextDelta().stream())
                    .map(delta -> delta.delta())
                    .reduce("", String::concat);
            expect(streamed.equals(greeting), streamed);
        }
    }

    static void report(String name, Case run) {
        Object ok = true;
        String detail = "";
        try {
            run.run();
        } catch (Exception error) {
            ok = false;
            detail = error.toString();
        }
        System.out.println(JsonValue.from(Map.of("case", name, "ok", ok, "detail", detail))
                .convert(com.fasterxml.jackson.databind.JsonNode.class));
    }

    public static void main(String[] arguments) {
        report("abort", Main::abort);
        report("chat", Main::chat);
        report("stream", Main::stream);
        report("tools", Main::tools);
        report("second-turn", Main::secondTurn);
        report("schema", Main::schema);
        report("embeddings", Main::embeddings);
        report("speech", Main::speech);
        report("models", Main::models);
        report("error-400", () -> fails(BadRequestException.class, "invalid_request", () -> clientOf(key, 0)
                .chat()
                .completions()
                .create(asked(model).temperature(9).build())));
        report("error-401", () -> refused(UnauthorizedException.class, "invalid_api_key", "sk-wrong", model));
        // The library has no class for 402.
        report("error-402", () -> refused(
                UnexpectedStatusCodeException.class, "insufficient_credits", System.getenv("POOR_KEY"), model));
        report("error-404", () -> refused(
                NotFoundException.class, "model_not_found", key, System.getenv("UNKNOWN_MODEL")));
        report("error-429", () -> {
            String limited = System.getenv("LIMITED_KEY");
            greets(clientOf(limited, 0).chat().completions().create(asked(model).build()));
            refused(RateLimitException.class, "rate_limit_exceeded", limited, model);
        });
        report("retry-503", () -> greets(client.chat()
                .completions()
                .create(asked(System.getenv("BUSY_MODEL")).build())));
        report("retry-429", Main::retry429);
        report("no-retry", () -> fails(InternalServerException.class, "provider_error", () -> client.chat()
                .completions()
                .create(asked(System.getenv("BROKEN_MODEL")).build())));
        report("responses", Main::responses);
        // Its idle threads would keep the process alive.
        System.exit(0);
    }
}
