"""Endpoints for signing in, and for opening the API in a browser."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import PlainTextResponse, Response

from tidings.greader.credentials import PasswordCheck, ReaderCaller
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import json
from tidings.services.accounts.authentication import Credentials

routes = Routes("Sign in")

SMALL_BODY = 2**14


class LoginForm(QueryOrForm, frozen=True):
    """output: json for JSON. Other fields (service, source, accountType …) are ignored."""

    Email: str = ""
    Passwd: str = ""
    output: str = ""


class LoginOut(Struct, frozen=True):
    SID: str
    LSID: str
    Auth: str


@routes.get("/accounts/ClientLogin", is_public=True)
async def sign_in(caller: ReaderCaller, check: PasswordCheck, query: LoginForm) -> Response:
    """Sign in with a name and an API password, or the account's. All three values are the token."""
    credentials = Credentials(username=query.Email.strip(), password=query.Passwd, address=caller.address)
    login = await check.verify(credentials)
    if query.output == "json":
        return json(LoginOut(SID=login.token, LSID=login.token, Auth=login.token))
    return PlainTextResponse("".join(f"{name}={login.token}\n" for name in ("SID", "LSID", "Auth")))


routes.post("/accounts/ClientLogin", is_public=True, body_limit=SMALL_BODY)(sign_in)


@routes.get("/", is_public=True)
def show_that_it_is_here() -> str:
    """Return a text for users who open the URL of the API in a browser."""
    return "OK"


@routes.get("/check/compatibility", is_public=True)
def check_compatibility(request: Request) -> str:
    """Check whether a reverse proxy forwards the header Authorization."""
    return "PASS" if request.headers.get("authorization") else "FAIL: no Authorization header arrived here."
