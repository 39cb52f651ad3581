import json
import os

import openai
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from reporting import Cannot, report

base_url = os.environ["TOLLGATE_URL"] + "/v1"
key = os.environ["TOLLGATE_KEY"]
model = os.environ["MODEL"]
greeting = os.environ["GREETING"]


class Weather(BaseModel):
    city: str
    degrees: int


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return "18 degrees"


def chat_of(name=model, api_key=key, **fields):
    return ChatOpenAI(model=name, base_url=base_url, api_key=api_key, **fields)


def ask(**fields):
    return chat_of(**{"max_retries": 0, **fields}).invoke("Say something.")


def fails(call, error_class, code):
    """The call must fail with this class of the SDK inside, and this code."""
    try:
        call()
    except openai.APIError as error:
        assert isinstance(error, error_class), f"{type(error).__name__}, not {error_class.__name__}"
        assert error.code == code, f"code {error.code}, not {code}"
        return f"{error_class.__name__} {code}"
    raise AssertionError("the call did not fail")


def text_of(chunks):
    texts = [chunk.text for chunk in chunks]
    assert len(texts) > 3, "not in pieces"
    return "".join(texts)


def chat():
    answer = chat_of().invoke("Say something.")
    assert answer.text == greeting, answer
    assert answer.usage_metadata["output_tokens"] > 0, "no usage"


def stream():
    text = text_of(chat_of().stream("Say something."))
    assert text == greeting, text


def tools():
    bound = chat_of(os.environ["TOOL_MODEL"]).bind_tools([get_weather])
    question = HumanMessage("How is the weather?")
    first = None
    for chunk in bound.stream([question]):
        first = chunk if first is None else first + chunk
    call = first.tool_calls[0]
    assert (call["name"], call["args"]) == ("get_weather", {"city": "text"}), first
    second = bound.invoke([question, first, get_weather.invoke(call)])
    assert "18 degrees" in second.text, second


def second_turn():
    for fields in [{}, {"use_responses_api": True}]:
        bound = chat_of(os.environ["TOOL_MODEL"], **fields).bind_tools([get_weather])
        turns = []
        for question in ["How is the weather?", "And now?"]:
            turns.append(HumanMessage(question))
            asked = bound.invoke(turns)
            turns += [asked, get_weather.invoke(asked.tool_calls[0])]
            answer = bound.invoke(turns)
            assert "18 degrees" in answer.text, answer
            turns.append(answer)


def schema():
    found = chat_of().with_structured_output(Weather).invoke("How is the weather?")
    assert found == Weather(city="text", degrees=1), found


def embeddings():
    # Otherwise it counts tokens with an encoding that it downloads.
    texts = OpenAIEmbeddings(
        model=os.environ["EMBEDDING_MODEL"],
        base_url=base_url,
        api_key=key,
        check_embedding_ctx_length=False,
    )
    vector = texts.embed_query("a")
    assert vector == json.loads(os.environ["VECTOR"]), vector


def speech():
    raise Cannot("not offered")


def models():
    raise Cannot("not offered")


def error_400():
    return fails(lambda: ask(temperature=9), openai.BadRequestError, "invalid_request")


def error_401():
    return fails(lambda: ask(api_key="sk-wrong"), openai.AuthenticationError, "invalid_api_key")


def error_402():
    # The library has no class for 402.
    poor = os.environ["POOR_KEY"]
    return fails(lambda: ask(api_key=poor), openai.APIStatusError, "insufficient_credits")


def error_404():
    unknown = os.environ["UNKNOWN_MODEL"]
    return fails(lambda: ask(name=unknown), openai.NotFoundError, "model_not_found")


def error_429():
    limited = os.environ["LIMITED_KEY"]
    ask(api_key=limited)
    return fails(lambda: ask(api_key=limited), openai.RateLimitError, "rate_limit_exceeded")


def retry_503():
    answer = chat_of(os.environ["BUSY_MODEL"]).invoke("Say something.")
    assert answer.text == greeting, answer


def retry_429():
    single = os.environ["SINGLE_KEY"]
    chunks = chat_of(os.environ["SLOW_MODEL"], single).stream("Say something.")
    next(chunks)
    answer = chat_of(api_key=single, max_retries=6).invoke("Say something.")
    assert answer.text == greeting, answer
    list(chunks)


def no_retry():
    broken = chat_of(os.environ["BROKEN_MODEL"])
    return fails(
        lambda: broken.invoke("Say something."), openai.InternalServerError, "provider_error"
    )


def abort():
    chunks = chat_of(os.environ["STALLING_MODEL"]).stream("Say something.")
    next(chunks)
    chunks.close()


def responses():
    by_responses = chat_of(use_responses_api=True)
    answer = by_responses.invoke("Say something.")
    assert answer.text == greeting, answer
    text = text_of(by_responses.stream("Say something."))
    assert text == greeting, text


report(
    abort, chat, stream, tools, second_turn, schema, embeddings, speech, models, error_400, error_401,
    error_402, error_404, error_429, retry_503, retry_429, no_retry, responses,
)
