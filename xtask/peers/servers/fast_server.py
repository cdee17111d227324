"""A tool server as people write it in Python, with FastMCP.

With `http` it listens at the port in `PORT`, mounted in an application that redirects `/mcp` to `/mcp/`.
"""

import asyncio
import base64
import os
import sys

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.utilities.types import Image
from starlette.applications import Starlette
from starlette.routing import Mount

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
    if sys.argv[1:] == ["http"]:
        served = mcp.http_app(path="/")
        app = Starlette(routes=[Mount("/mcp", app=served)], lifespan=served.lifespan)
        uvicorn.run(app, port=int(os.environ["PORT"]), log_level="error")
    else:
        mcp.run(show_banner=False)
