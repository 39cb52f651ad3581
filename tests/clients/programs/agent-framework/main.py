import asyncio
import os

from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient
from reporting import report

greeting = os.environ["GREETING"]


def get_weather(city: str) -> str:
    """Tells the weather of a city."""
    return "18 degrees"


def agent_of(model="MODEL", tools=()):
    # By default it speaks the Responses format, and continues by the id of the response before.
    client = OpenAIChatClient(
        model=os.environ[model],
        api_key=os.environ["TOLLGATE_KEY"],
        base_url=os.environ["TOLLGATE_URL"] + "/v1",
    )
    return Agent(client=client, instructions="Be brief.", tools=list(tools))


def chat():
    answer = asyncio.run(agent_of().run("Say something."))
    assert answer.text == greeting, answer


def stream():
    async def read():
        updates = agent_of().run("Say something.", stream=True)
        texts = [update.text async for update in updates if update.text]
        return texts, (await updates.get_final_response()).text

    # The last of the updates has the whole text, in place of those before.
    texts, text = asyncio.run(read())
    assert text == greeting and len(texts) > 3, texts


def second_turn():
    async def talk():
        agent = agent_of("TOOL_MODEL", [get_weather])
        session = agent.create_session()
        questions = ["How is the weather?", "And now?"]
        return [(await agent.run(question, session=session)).text for question in questions]

    for text in asyncio.run(talk()):
        assert "18 degrees" in text, text


report(chat, stream, second_turn)
