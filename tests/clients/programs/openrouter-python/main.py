import os

from openrouter import OpenRouter
from reporting import report

client = OpenRouter(
    api_key=os.environ["TOLLGATE_KEY"], server_url=os.environ["TOLLGATE_URL"] + "/v1"
)
greeting = os.environ["GREETING"]

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


def ask(model="MODEL", messages=({"role": "user", "content": "Say something."},), **fields):
    return client.chat.send(model=os.environ[model], messages=list(messages), **fields)


def chat():
    answer = ask()
    assert answer.choices[0].message.content == greeting, answer
    assert answer.usage.completion_tokens > 0, "no usage"


def stream():
    with ask(stream=True) as chunks:
        texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == greeting and len(texts) > 3, texts


def second_turn():
    turns = []
    for question in ["How is the weather?", "And now?"]:
        turns.append({"role": "user", "content": question})
        asked = ask("TOOL_MODEL", turns, tools=[get_weather]).choices[0].message
        call = asked.tool_calls[0]
        turns += [asked, {"role": "tool", "tool_call_id": call.id, "content": "18 degrees"}]
        answer = ask("TOOL_MODEL", turns, tools=[get_weather]).choices[0].message
        assert "18 degrees" in answer.content, answer
        turns.append(answer)


report(chat, stream, second_turn)
