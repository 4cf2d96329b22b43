"""Endpoints for the user, the edit token, and lists that clients request but do not use."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.greader.credentials import ReaderCaller
from tidings.http.endpoints import Routes
from tidings.http.requests import Request

routes = Routes("Account")


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
    is_vienna = "Vienna" in request.headers.get("user-agent", "")
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
