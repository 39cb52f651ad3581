# One turn of an agent with a tool, and with an MCP server where there is one.
import asyncio
import json
import os
import subprocess
import sys

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI


@function_tool
def shell(command: str) -> str:
    """Runs a command and returns what it prints."""
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout


async def answer(servers):
    client = AsyncOpenAI()
    model = OpenAIResponsesModel(model=os.environ["MODEL"], openai_client=client)
    agent = Agent(name="A", instructions="Be brief.", model=model, tools=[shell], mcp_servers=servers)
    with open(os.environ["MESSAGE_FILE"]) as file:
        result = Runner.run_streamed(agent, file.read())
    async for _ in result.stream_events():
        pass
    print(result.final_output)


async def main():
    set_tracing_disabled(True)
    if "MCP_COMMAND" not in os.environ:
        return await answer([])
    command, *args = json.loads(os.environ["MCP_COMMAND"])
    params = {"command": command, "args": args, "env": {"WORD": os.environ["WORD"]}}
    async with MCPServerStdio(params=params) as server:
        await answer([server])


try:
    asyncio.run(main())
except Exception as error:
    sys.exit(f"{type(error).__name__}: {error}")
