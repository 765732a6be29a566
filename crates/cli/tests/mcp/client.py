"""Drives a server with the official SDK: reads a plan, prints what came of it."""

import asyncio
import json
import sys

import mcp.client.session
from mcp import Client, StdioServerParameters
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS


async def run(plan):
    version = KNOWN_PROTOCOL_VERSIONS[plan["version"]]
    mode = version
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        # The SDK offers the newest revision that has a handshake.
        mcp.client.session.LATEST_HANDSHAKE_VERSION = version
        mode = "legacy"
    server = StdioServerParameters(command=plan["program"], args=plan["arguments"])
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        resources = (await client.list_resources()).resources
        prompts = (await client.list_prompts()).prompts
        read = [(await client.read_resource(str(resource.uri))).contents[0].text for resource in resources]
        filled = []
        for prompt in prompts:
            arguments = {argument.name: "a.prof" for argument in prompt.arguments or []}
            filled.append((await client.get_prompt(prompt.name, arguments)).messages[0].content.text)
        answers = []
        for tool, arguments in plan["calls"]:
            # The SDK compares the answer with the schema of the tool.
            answer = await client.call_tool(tool, arguments)
            answers.append([answer.is_error, answer.structured_content, answer.content[0].text])
        return {
            "wanted": version,
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "schemas": all(tool.input_schema and tool.output_schema for tool in tools),
            "resources": dict(zip([str(resource.uri) for resource in resources], map(len, read))),
            "prompts": dict(zip([prompt.name for prompt in prompts], filled)),
            "answers": answers,
        }


print(json.dumps(asyncio.run(run(json.load(sys.stdin)))))
