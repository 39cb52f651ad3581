import os

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openrouter import ChatOpenRouter
from reporting import report

greeting = os.environ["GREETING"]


@tool
def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return "18 degrees"


def chat_of(model="MODEL"):
    return ChatOpenRouter(
        model=os.environ[model],
        api_key=os.environ["TOLLGATE_KEY"],
        base_url=os.environ["TOLLGATE_URL"] + "/v1",
    )


def chat():
    answer = chat_of().invoke("Say something.")
    assert answer.text == greeting, answer
    assert answer.usage_metadata["output_tokens"] > 0, "no usage"


def stream():
    texts = [chunk.text for chunk in chat_of().stream("Say something.")]
    assert "".join(texts) == greeting and len(texts) > 3, texts


def second_turn():
    bound = chat_of("TOOL_MODEL").bind_tools([get_weather])
    turns = []
    for question in ["How is the weather?", "And now?"]:
        turns.append(HumanMessage(question))
        asked = bound.invoke(turns)
        turns += [asked, get_weather.invoke(asked.tool_calls[0])]
        answer = bound.invoke(turns)
        assert "18 degrees" in answer.text, answer
        turns.append(answer)


report(chat, stream, second_turn)
