import json
import os

import openai
from llama_index.core.llms import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike, OpenAILikeResponses
from pydantic import BaseModel
from reporting import Cannot, report

base_url = os.environ["TOLLGATE_URL"] + "/v1"
key = os.environ["TOLLGATE_KEY"]
model = os.environ["MODEL"]
greeting = os.environ["GREETING"]
question = ChatMessage(role="user", content="Say something.")


class Weather(BaseModel):
    """The weather of a city."""

    city: str
    degrees: int


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return "18 degrees"


def llm_of(name=model, api_key=key, **fields):
    return OpenAILike(
        model=name,
        api_base=base_url,
        api_key=api_key,
        context_window=8192,
        is_chat_model=True,
        is_function_calling_model=True,
        **fields,
    )


def ask(**fields):
    return llm_of(**{"max_retries": 0, **fields}).chat([question])


def fails(call, error_class, code):
    """The call must fail with this class of the SDK inside, and this code."""
    try:
        call()
    except openai.APIError as error:
        assert type(error) is error_class, f"{type(error).__name__}, not {error_class.__name__}"
        assert error.code == code, f"code {error.code}, not {code}"
        return f"{error_class.__name__} {code}"
    raise AssertionError("the call did not fail")


def text_of(chunks):
    texts = [chunk.delta or "" for chunk in chunks]
    assert len(texts) > 3, "not in pieces"
    return "".join(texts)


def chat():
    answer = llm_of().chat([question])
    assert answer.message.content == greeting, answer


def stream():
    text = text_of(llm_of().stream_chat([question]))
    assert text == greeting, text


def tools():
    llm = llm_of(os.environ["TOOL_MODEL"])
    weather = FunctionTool.from_defaults(get_weather)
    asked = ChatMessage(role="user", content="How is the weather?")
    *_, first = llm.stream_chat_with_tools([weather], chat_history=[asked])
    call = llm.get_tool_calls_from_response(first)[0]
    assert (call.tool_name, call.tool_kwargs) == ("get_weather", {"city": "text"}), first
    result = ChatMessage(
        role="tool",
        content=weather(**call.tool_kwargs).content,
        additional_kwargs={"tool_call_id": call.tool_id},
    )
    second = llm.chat_with_tools([weather], chat_history=[asked, first.message, result])
    assert "18 degrees" in second.message.content, second


def second_turn():
    llm = llm_of(os.environ["TOOL_MODEL"])
    weather = FunctionTool.from_defaults(get_weather)
    turns = []
    for asking in ["How is the weather?", "And now?"]:
        turns.append(ChatMessage(role="user", content=asking))
        asked = llm.chat_with_tools([weather], chat_history=turns)
        call = llm.get_tool_calls_from_response(asked)[0]
        result = ChatMessage(
            role="tool",
            content=weather(**call.tool_kwargs).content,
            additional_kwargs={"tool_call_id": call.tool_id},
        )
        turns += [asked.message, result]
        answer = llm.chat_with_tools([weather], chat_history=turns)
        assert "18 degrees" in answer.message.content, answer
        turns.append(answer.message)


def schema():
    llm = llm_of(should_use_structured_outputs=True)
    found = llm.structured_predict(Weather, PromptTemplate("How is the weather?"))
    assert found == Weather(city="text", degrees=1), found


def embeddings():
    texts = OpenAILikeEmbedding(
        model_name=os.environ["EMBEDDING_MODEL"], api_base=base_url, api_key=key
    )
    vector = texts.get_text_embedding("a")
    assert vector == json.loads(os.environ["VECTOR"]), vector


def speech():
    raise Cannot("not offered")


def models():
    raise Cannot("not offered")


def error_400():
    too_hot = {"temperature": 9}
    return fails(
        lambda: ask(additional_kwargs=too_hot), openai.BadRequestError, "invalid_request"
    )


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
    answer = llm_of(os.environ["BUSY_MODEL"]).chat([question])
    assert answer.message.content == greeting, answer


def retry_429():
    single = os.environ["SINGLE_KEY"]
    chunks = llm_of(os.environ["SLOW_MODEL"], single).stream_chat([question])
    next(chunks)
    answer = llm_of(api_key=single, max_retries=6).chat([question])
    assert answer.message.content == greeting, answer
    list(chunks)


def no_retry():
    raise Cannot("not read: set `max_retries`")


def abort():
    chunks = llm_of(os.environ["STALLING_MODEL"]).stream_chat([question])
    next(chunks)
    chunks.close()


def responses():
    llm = OpenAILikeResponses(
        model=model, api_base=base_url, api_key=key, context_window=8192
    )
    answer = llm.chat([question])
    assert answer.message.content == greeting, answer
    text = text_of(llm.stream_chat([question]))
    assert text == greeting, text


report(
    abort, chat, stream, tools, second_turn, schema, embeddings, speech, models, error_400, error_401,
    error_402, error_404, error_429, retry_503, retry_429, no_retry, responses,
)
