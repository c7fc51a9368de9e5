"""Forms that pages send: small, of text fields, each with a token that only our own page could have held."""

import hmac
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import parse_qsl

from fastapi import Depends, Request

from api.web.viewers import CurrentViewer
from models.errors import InvalidInput, RoleMissing

TOKEN_FIELD: Final = "form_token"
_MAX_BYTES: Final = 16 << 10
_MAX_FIELDS: Final = 20
_MEDIA_TYPE: Final = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form, the last of two with one name. Raises InvalidInput."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _MEDIA_TYPE:
        raise InvalidInput(
            "a page's form is sent as application/x-www-form-urlencoded; send it from the page"
        )
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BYTES:
            raise InvalidInput("the form holds more than 16 KiB; shorten what was typed")
    try:
        return dict(
            parse_qsl(
                body.decode("ascii"), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict"
            )
        )
    except ValueError as error:
        raise InvalidInput("the form can't be read; load the page again and send it from there") from error


def require_token(fields: Mapping[str, str], wanted: str) -> None:
    """Refuses a form that another site made the browser send. Raises RoleMissing: 403, nothing was done."""
    if not hmac.compare_digest(fields.get(TOKEN_FIELD, "").encode(), wanted.encode()):
        raise RoleMissing("the form was not sent from a page of this session; load the page again and repeat")


Form = Annotated[Mapping[str, str], Depends(read_form)]


async def checked_form(viewer: CurrentViewer, fields: Form) -> Mapping[str, str]:
    """The form of somebody who is signed in, its token proved."""
    require_token(fields, viewer.form_token)
    return fields


CheckedForm = Annotated[Mapping[str, str], Depends(checked_form)]
