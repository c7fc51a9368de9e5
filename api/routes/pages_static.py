"""Style and script of the pages."""

from typing import Final

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.web.static_files import FILES
from models.errors import NotFound

router = APIRouter(include_in_schema=False)

_FOR_EVER: Final = "public, max-age=31536000, immutable"


@router.api_route("/static/{version}/{name:path}", methods=["GET", "HEAD"])
async def get_static_file(version: str, name: str, request: Request) -> Response:
    """A file under the version that its content has; under another one it is not kept by caches."""
    file = FILES.get(name)
    if file is None:
        raise NotFound("no file of the pages has this name")
    headers = {
        "Cache-Control": _FOR_EVER if version == file.version else "no-store",
        "Vary": "Accept-Encoding",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(
            file.compressed, headers=headers | {"Content-Encoding": "gzip"}, media_type=file.media_type
        )
    return Response(file.content, headers=headers, media_type=file.media_type)
