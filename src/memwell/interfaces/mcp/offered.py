"""What the server offers besides tools, in the protocol's terms."""

from __future__ import annotations

import mcp_types as types

URI = "memwell://memories/"
PROMPT = types.Prompt(
    name="context",
    title="What is remembered",
    description="What is remembered about the user that bears on a question, as context for answering it.",
    arguments=[types.PromptArgument(name="question", description="The question to answer.", required=True)],
)
TEMPLATE = types.ResourceTemplate(
    name="memory",
    uri_template=f"{URI}{{memory_id}}",
    description="One memory with its quotes and versions.",
    mime_type="application/json",
)
