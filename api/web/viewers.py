"""Who looks at a page: the holder of a session, or in open mode the person `local`."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import Depends, Request
from sqlalchemy.exc import OperationalError, TimeoutError

from api.services import services_of
from api.web.cookies import SESSION, read_cookie
from models.actor import Actor
from models.errors import ShipworthyError, TokenInvalid, TokenMissing
from models.keys.sessions import KeySession

_OPEN: Final = "open mode"


@dataclass(frozen=True, slots=True)
class Viewer:
    """`form_token` is what every form on the page sends back; `session` is None in open mode."""

    actor: Actor
    session: KeySession | None
    form_token: str

    @property
    def name(self) -> str:
        return "local" if self.session is None else f"key {self.actor.key_id}"


async def current_viewer(request: Request) -> Viewer:
    """Raises TokenMissing, TokenInvalid or Unavailable."""
    authenticator = services_of(request).authenticator
    session: KeySession | None
    if authenticator.is_open:
        actor, session, bound_to = await authenticator.actor(request), None, _OPEN
    else:
        cookie = read_cookie(request, SESSION)
        if cookie is None:
            raise TokenMissing("pages are for people who are signed in; sign in with your key")
        session = authenticator.session(cookie)
        if session is None:
            raise TokenInvalid("the session is over; sign in again with your key")
        actor, bound_to = await authenticator.holder(session), session.session_id
    viewer = Viewer(actor, session, authenticator.sealer.form_token(bound_to))
    # An error on the way shows who is signed in too.
    request.state.viewer = viewer
    return viewer


async def find_viewer(request: Request) -> None:
    """For the page of an error that no route saw, such as an unknown address: notes the viewer, if there is one."""
    with suppress(ShipworthyError, OperationalError, TimeoutError):
        await current_viewer(request)


CurrentViewer = Annotated[Viewer, Depends(current_viewer)]


async def possible_viewer(request: Request) -> Viewer | None:
    """None for whoever is not signed in, or while nobody can be asked who it is: for pages that hold nothing of a
    namespace."""
    try:
        return await current_viewer(request)
    except ShipworthyError:
        return None


PossibleViewer = Annotated[Viewer | None, Depends(possible_viewer)]
