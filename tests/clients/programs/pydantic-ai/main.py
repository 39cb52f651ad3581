import asyncio
import os

from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openrouter import OpenRouterModel
from pydantic_ai.providers.openrouter import OpenRouterProvider
from reporting import report

greeting = os.environ["GREETING"]


def agent_of(model="MODEL"):
    # A client for each run, as each has an event loop of its own.
    client = AsyncOpenAI(
        base_url=os.environ["TOLLGATE_URL"] + "/v1", api_key=os.environ["TOLLGATE_KEY"]
    )
    provider = OpenRouterProvider(openai_client=client)
    return Agent(OpenRouterModel(os.environ[model], provider=provider))


def chat():
    answer = asyncio.run(agent_of().run("Say something."))
    assert answer.output == greeting, answer


def stream():
    async def read():
        async with agent_of().run_stream("Say something.") as result:
            return [text async for text in result.stream_text(delta=True, debounce_by=None)]

    texts = asyncio.run(read())
    assert "".join(texts) == greeting and len(texts) > 3, texts


def second_turn():
    agent = agent_of("TOOL_MODEL")

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """Tells the weather of a city."""
        return "18 degrees"

    async def talk():
        first = await agent.run("How is the weather?")
        second = await agent.run("And now?", message_history=first.all_messages())
        return first.output, second.output

    for output in asyncio.run(talk()):
        assert "18 degrees" in output, output


report(chat, stream, second_turn)
