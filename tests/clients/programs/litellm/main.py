import base64
import json
import os

# Uses the price table of the package instead of downloading it.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from pydantic import BaseModel
from reporting import Cannot, report

key = os.environ["TOLLGATE_KEY"]
greeting = os.environ["GREETING"]
messages = [{"role": "user", "content": "Say something."}]
litellm.api_base = os.environ["TOLLGATE_URL"] + "/v1"
litellm.suppress_debug_info = True

get_weather = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


def named(variable):
    """Returns the model name for LiteLLM, which strips one `openai/` prefix."""
    return "openai/" + os.environ[variable]


def ask(variable="MODEL", api_key=key, **body):
    return litellm.completion(
        **{"model": named(variable), "messages": messages, "api_key": api_key, **body}
    )


def fails(error_class, *args, **body):
    """The call must fail with this class."""
    try:
        ask(*args, **{"max_retries": 0, **body})
    except Exception as error:
        assert type(error) is error_class, f"{type(error).__name__}, not {error_class.__name__}"
        return error_class.__name__
    raise AssertionError("the call did not fail")


def chat():
    answer = ask()
    assert answer.choices[0].message.content == greeting, answer
    assert answer.usage.completion_tokens > 0, "no usage"


def stream():
    texts = [chunk.choices[0].delta.content or "" for chunk in ask(stream=True)]
    assert "".join(texts) == greeting, texts
    assert len(texts) > 3, "not in pieces"


def tools():
    question = {"role": "user", "content": "How is the weather?"}
    chunks = list(ask("TOOL_MODEL", messages=[question], tools=[get_weather], stream=True))
    message = litellm.stream_chunk_builder(chunks, messages=[question]).choices[0].message
    call = message.tool_calls[0]
    assert call.function.name == "get_weather", message
    assert json.loads(call.function.arguments) == {"city": "text"}, message
    result = {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}
    second = ask("TOOL_MODEL", messages=[question, message, result], tools=[get_weather])
    assert "18 degrees" in second.choices[0].message.content, second


def second_turn():
    turns = []
    for question in ["How is the weather?", "And now?"]:
        turns.append({"role": "user", "content": question})
        asked = ask("TOOL_MODEL", messages=turns, tools=[get_weather]).choices[0].message
        call = asked.tool_calls[0]
        turns += [asked, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
        answer = ask("TOOL_MODEL", messages=turns, tools=[get_weather]).choices[0].message
        assert "18 degrees" in answer.content, answer
        turns.append(answer)


def schema():
    text = ask(response_format=Weather).choices[0].message.content
    assert Weather.model_validate_json(text) == Weather(city="text", degrees=1), text


def embeddings():
    answer = litellm.embedding(model=named("EMBEDDING_MODEL"), input=["a"], api_key=key)
    assert answer.data[0]["embedding"] == json.loads(os.environ["VECTOR"]), answer


def speech():
    answer = litellm.speech(
        model=named("SPEECH_MODEL"), voice="alloy", input="Hello", api_key=key,
        api_base=os.environ["TOLLGATE_URL"] + "/v1",
    )
    assert answer.content == base64.b64decode(os.environ["SOUND"]), len(answer.content)


def models():
    found = litellm.get_valid_models(
        check_provider_endpoint=True, custom_llm_provider="openai", api_key=key,
        api_base=os.environ["TOLLGATE_URL"],
    )
    assert named("MODEL") in found or os.environ["MODEL"] in found, found


def error_400():
    return fails(litellm.BadRequestError, temperature=9)


def error_401():
    return fails(litellm.AuthenticationError, api_key="sk-wrong")


def error_402():
    # The library has no class for 402.
    return fails(litellm.APIError, api_key=os.environ["POOR_KEY"])


def error_404():
    return fails(litellm.NotFoundError, "UNKNOWN_MODEL")


def error_429():
    limited = os.environ["LIMITED_KEY"]
    ask(api_key=limited)
    return fails(litellm.RateLimitError, api_key=limited)


def retry_503():
    answer = ask("BUSY_MODEL", max_retries=2)
    assert answer.choices[0].message.content == greeting, answer


def retry_429():
    single = os.environ["SINGLE_KEY"]
    chunks = ask("SLOW_MODEL", single, stream=True)
    next(chunks)
    answer = ask(api_key=single, max_retries=6)
    assert answer.choices[0].message.content == greeting, answer
    list(chunks)


def no_retry():
    return fails(litellm.BadGatewayError, "BROKEN_MODEL", max_retries=2)


def abort():
    chunks = ask("STALLING_MODEL", stream=True)
    next(chunks)
    chunks.completion_stream.close()


def responses():
    whole = litellm.responses(model=named("MODEL"), input="Say something.", api_key=key)
    text = "".join(part.text for item in whole.output for part in item.content)
    assert text == greeting, whole
    events = litellm.responses(
        model=named("MODEL"), input="Say something.", api_key=key, stream=True
    )
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == greeting, deltas


report(
    abort, chat, stream, tools, second_turn, schema, embeddings, speech, models, error_400, error_401,
    error_402, error_404, error_429, retry_503, retry_429, no_retry, responses,
)
