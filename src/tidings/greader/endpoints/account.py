"""Endpoints for signing in, the user, the edit token, and lists that clients request but do not use."""

from __future__ import annotations

from msgspec import Struct
from starlette.responses import PlainTextResponse, Response

from tidings.domain.accounts.users import User
from tidings.greader.credentials import PasswordCheck, ReaderCaller
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import json
from tidings.services.accounts.authentication import Credentials

routes = Routes("Account")

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
    credentials = Credentials(
        username=query.Email.strip(),
        password=query.Passwd,
        address=caller.origin.address,
        user_agent=caller.origin.user_agent,
    )
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


class UserInfo(Struct, frozen=True, rename="camel"):
    user_id: str
    user_name: str
    user_profile_id: str
    user_email: str


class Preferences(Struct, frozen=True):
    prefs: list[str] = []


class StreamPreferences(Struct, frozen=True):
    streamprefs: dict[str, str] = {}


class Friends(Struct, frozen=True):
    friends: list[str] = []


@routes.get("/reader/api/0/token")
def get_edit_token(caller: ReaderCaller, request: Request) -> str:
    """Get the edit token, which clients send as T with each change. It equals the login's token and never expires.

    A line break ends it: NewsFlash drops the last character. Vienna does not, unless its server is a FreshRSS.
    """
    assert caller.login is not None
    is_freshrss = request.scope.get("root_path", "").endswith("greader.php")
    is_vienna = "Vienna" in request.user_agent
    return caller.login.token + ("" if is_vienna and not is_freshrss else "\n")


@routes.get("/reader/api/0/user-info")
def get_user_info(caller: User) -> UserInfo:
    number = str(caller.id)
    return UserInfo(user_id=number, user_name=caller.username, user_profile_id=number, user_email="")


@routes.get("/reader/api/0/preference/list")
def list_preferences() -> Preferences:
    return Preferences()


@routes.get("/reader/api/0/preference/stream/list")
def list_stream_preferences() -> StreamPreferences:
    return StreamPreferences()


@routes.get("/reader/api/0/friend/list")
def list_friends() -> Friends:
    return Friends()
