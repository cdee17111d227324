"""A tool server as people write it in Python, with FastMCP."""

import asyncio
import base64
import os

from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
mcp = FastMCP("fast-server", instructions="Use `rows` first.")


@mcp.tool
def rows(count: int = 2) -> list[dict]:
    """Gives rows."""
    return [{"at": at, "name": f"row{at}"} for at in range(count)]


@mcp.tool
def picture() -> Image:
    """Gives a picture."""
    return Image(data=base64.b64decode(PIXEL), format="png")


@mcp.tool
def process() -> int:
    """Gives the number of this process."""
    return os.getpid()


@mcp.tool
async def slow(context: Context, seconds: int) -> str:
    """Takes its time."""
    await context.report_progress(1, 2, "half")
    await asyncio.sleep(seconds)
    return "done"


if __name__ == "__main__":
    mcp.run(show_banner=False)
