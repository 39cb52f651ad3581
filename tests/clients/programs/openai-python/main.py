import base64
import json
import os

import openai
from openai import OpenAI
from pydantic import BaseModel
from reporting import report

base_url = os.environ["TOLLGATE_URL"] + "/v1"
key = os.environ["TOLLGATE_KEY"]
model = os.environ["MODEL"]
greeting = os.environ["GREETING"]
messages = [{"role": "user", "content": "Say something."}]
client = OpenAI(base_url=base_url, api_key=key)

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


def ask(api_key=key, **body):
    once = OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
    return once.chat.completions.create(**{"model": model, "messages": messages, **body})


def fails(call, error_class, code):
    """The call must fail with this class and code."""
    try:
        call()
    except openai.APIError as error:
        assert type(error) is error_class, f"{type(error).__name__}, not {error_class.__name__}"
        assert error.code == code, f"code {error.code}, not {code}"
        return f"{error_class.__name__} {code}"
    raise AssertionError("the call did not fail")


def chat():
    answer = client.chat.completions.create(model=model, messages=messages)
    assert answer.choices[0].message.content == greeting, answer
    assert answer.usage.completion_tokens > 0, "no usage"


def stream():
    texts, usage = [], None
    for chunk in client.chat.completions.create(
        model=model, messages=messages, stream=True, stream_options={"include_usage": True}
    ):
        if chunk.choices:
            texts.append(chunk.choices[0].delta.content or "")
        usage = chunk.usage or usage
    assert "".join(texts) == greeting, texts
    assert len(texts) > 3, "not in pieces"
    assert usage.completion_tokens > 0, "no usage"


def tools():
    question = {"role": "user", "content": "How is the weather?"}
    about = {"model": os.environ["TOOL_MODEL"], "tools": [get_weather]}
    with client.chat.completions.stream(messages=[question], **about) as events:
        first = events.get_final_completion().choices[0]
    call = first.message.tool_calls[0]
    assert first.finish_reason == "tool_calls" and call.function.name == "get_weather", first
    assert json.loads(call.function.arguments)["city"] == "text", call
    result = {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}
    second = client.chat.completions.create(messages=[question, first.message, result], **about)
    assert "18 degrees" in second.choices[0].message.content, second


def second_turn():
    weather = {"type": "function", "strict": False, **get_weather["function"]}
    about = {"model": os.environ["TOOL_MODEL"], "tools": [weather]}
    previous = None
    for question in ["How is the weather?", "And now?"]:
        asked = client.responses.create(input=question, previous_response_id=previous, **about)
        call = next(item for item in asked.output if item.type == "function_call")
        assert call.name == "get_weather", asked
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "18 degrees"}
        answer = client.responses.create(
            input=[result], previous_response_id=asked.id, **about
        )
        assert "18 degrees" in answer.output_text, answer
        previous = answer.id


def schema():
    answer = client.chat.completions.parse(
        model=model, messages=messages, response_format=Weather
    )
    assert answer.choices[0].message.parsed == Weather(city="text", degrees=1), answer


def embeddings():
    answer = client.embeddings.create(model=os.environ["EMBEDDING_MODEL"], input="a")
    assert answer.data[0].embedding == json.loads(os.environ["VECTOR"]), answer


def speech():
    asked = {"model": os.environ["SPEECH_MODEL"], "voice": "alloy", "input": "Hello"}
    sound = base64.b64decode(os.environ["SOUND"])
    whole = client.audio.speech.create(**asked)
    assert whole.content == sound, len(whole.content)
    with client.audio.speech.with_streaming_response.create(**asked) as answer:
        streamed = b"".join(answer.iter_bytes())
    assert streamed == sound, len(streamed)


def models():
    assert model in [each.id for each in client.models.list()], "not in the list"
    assert client.models.retrieve(model).id == model, "another model"


def error_400():
    return fails(lambda: ask(temperature=9), openai.BadRequestError, "invalid_request")


def error_401():
    return fails(lambda: ask("sk-wrong"), openai.AuthenticationError, "invalid_api_key")


def error_402():
    # The library has no class for 402.
    return fails(lambda: ask(os.environ["POOR_KEY"]), openai.APIStatusError, "insufficient_credits")


def error_404():
    unknown = os.environ["UNKNOWN_MODEL"]
    return fails(lambda: ask(model=unknown), openai.NotFoundError, "model_not_found")


def error_429():
    limited = os.environ["LIMITED_KEY"]
    ask(limited)
    return fails(lambda: ask(limited), openai.RateLimitError, "rate_limit_exceeded")


def retry_503():
    answer = client.chat.completions.create(model=os.environ["BUSY_MODEL"], messages=messages)
    assert answer.choices[0].message.content == greeting, answer


def retry_429():
    single = OpenAI(base_url=base_url, api_key=os.environ["SINGLE_KEY"], max_retries=6)
    slow = os.environ["SLOW_MODEL"]
    with single.chat.completions.create(model=slow, messages=messages, stream=True):
        answer = single.chat.completions.create(model=model, messages=messages)
    assert answer.choices[0].message.content == greeting, answer


def no_retry():
    broken = os.environ["BROKEN_MODEL"]
    return fails(
        lambda: client.chat.completions.create(model=broken, messages=messages),
        openai.InternalServerError,
        "provider_error",
    )


def abort():
    stalling = os.environ["STALLING_MODEL"]
    with client.chat.completions.create(model=stalling, messages=messages, stream=True) as chunks:
        next(chunks)


def responses():
    whole = client.responses.create(model=model, input="Say something.")
    assert whole.output_text == greeting, whole
    events = client.responses.create(model=model, input="Say something.", stream=True)
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == greeting, deltas


report(
    abort, chat, stream, tools, second_turn, schema, embeddings, speech, models, error_400, error_401,
    error_402, error_404, error_429, retry_503, retry_429, no_retry, responses,
)
