"""What each error code means and what to do: where the `type` of a problem document leads, without a key."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.error_codes import CODES, ERRORS_PAGE
from api.web.answers import page
from api.web.viewers import PossibleViewer

router = APIRouter(include_in_schema=False)


@router.get(ERRORS_PAGE)
async def show_error_codes(request: Request, viewer: PossibleViewer) -> Response:
    """Who has no key needs it most, and it must load while the database is away."""
    return page(request, "errors.html", {"codes": CODES}, viewer=viewer)
