import os

import anthropic
from anthropic import Anthropic
from pydantic import BaseModel
from reporting import Cannot, report

base_url = os.environ["TOLLGATE_URL"]
key = os.environ["TOLLGATE_KEY"]
model = os.environ["MODEL"]
greeting = os.environ["GREETING"]
client = Anthropic(base_url=base_url, api_key=key)
asked = {"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": "Hi."}]}

get_weather = {
    "name": "get_weather",
    "description": "Tells the weather of a city.",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
}


class Weather(BaseModel):
    city: str
    degrees: int


def ask(api_key=key, **body):
    once = Anthropic(base_url=base_url, api_key=api_key, max_retries=0)
    return once.messages.create(**{**asked, **body})


def fails(call, error_class, kind):
    """The call must fail with this class and type."""
    try:
        call()
    except anthropic.APIError as error:
        assert isinstance(error, error_class), f"{type(error).__name__}, not {error_class.__name__}"
        assert error.body["error"]["type"] == kind, error.body
        return f"{type(error).__name__} {kind}"
    raise AssertionError("the call did not fail")


def chat():
    answer = client.messages.create(**asked)
    assert answer.content[0].text == greeting, answer
    assert answer.usage.output_tokens > 0, "no usage"


def stream():
    with client.messages.stream(**asked) as events:
        texts = list(events.text_stream)
        final = events.get_final_message()
    assert "".join(texts) == greeting, texts
    assert len(texts) > 3, "not in pieces"
    assert final.usage.output_tokens > 0, "no usage"


def tools():
    question = {"role": "user", "content": "How is the weather?"}
    about = {"model": os.environ["TOOL_MODEL"], "max_tokens": 100, "tools": [get_weather]}
    with client.messages.stream(messages=[question], **about) as events:
        first = events.get_final_message()
    call = next(block for block in first.content if block.type == "tool_use")
    assert first.stop_reason == "tool_use" and call.name == "get_weather", first
    assert call.input == {"city": "text"}, call
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "18 degrees"}
    turns = [
        question,
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": [result]},
    ]
    second = client.messages.create(messages=turns, **about)
    assert "18 degrees" in second.content[0].text, second


def second_turn():
    about = {"model": os.environ["TOOL_MODEL"], "max_tokens": 100, "tools": [get_weather]}
    turns = []
    for question in ["How is the weather?", "And now?"]:
        turns.append({"role": "user", "content": question})
        asked = client.messages.create(messages=turns, **about)
        call = next(block for block in asked.content if block.type == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "18 degrees"}
        turns.append({"role": "assistant", "content": asked.content})
        turns.append({"role": "user", "content": [result]})
        answer = client.messages.create(messages=turns, **about)
        assert "18 degrees" in answer.content[0].text, answer
        turns.append({"role": "assistant", "content": answer.content})


def schema():
    answer = client.messages.parse(**asked, output_format=Weather)
    assert answer.parsed_output == Weather(city="text", degrees=1), answer


def embeddings():
    raise Cannot("not offered")


def speech():
    raise Cannot("not offered")


def models():
    assert model in [each.id for each in client.models.list(limit=1000)], "not in the list"
    assert client.models.retrieve(model).id == model, "another model"


def error_400():
    return fails(lambda: ask(max_tokens=0), anthropic.BadRequestError, "invalid_request_error")


def error_401():
    return fails(lambda: ask("sk-wrong"), anthropic.AuthenticationError, "authentication_error")


def error_402():
    # The library has no class for 402.
    return fails(lambda: ask(os.environ["POOR_KEY"]), anthropic.APIStatusError, "billing_error")


def error_404():
    unknown = os.environ["UNKNOWN_MODEL"]
    return fails(lambda: ask(model=unknown), anthropic.NotFoundError, "not_found_error")


def error_429():
    limited = os.environ["LIMITED_KEY"]
    ask(limited)
    return fails(lambda: ask(limited), anthropic.RateLimitError, "rate_limit_error")


def retry_503():
    answer = client.messages.create(**{**asked, "model": os.environ["BUSY_MODEL"]})
    assert answer.content[0].text == greeting, answer


def retry_429():
    single = Anthropic(base_url=base_url, api_key=os.environ["SINGLE_KEY"], max_retries=6)
    with single.messages.create(**{**asked, "model": os.environ["SLOW_MODEL"]}, stream=True):
        answer = single.messages.create(**asked)
    assert answer.content[0].text == greeting, answer


def no_retry():
    broken = {**asked, "model": os.environ["BROKEN_MODEL"]}
    return fails(lambda: client.messages.create(**broken), anthropic.InternalServerError, "api_error")


def abort():
    stalling = {**asked, "model": os.environ["STALLING_MODEL"]}
    with client.messages.create(**stalling, stream=True) as events:
        next(iter(events))


def responses():
    raise Cannot("not offered")


report(
    abort, chat, stream, tools, second_turn, schema, embeddings, speech, models, error_400, error_401,
    error_402, error_404, error_429, retry_503, retry_429, no_retry, responses,
)
