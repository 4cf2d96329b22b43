"""Apps that sign in with an API password: logins and tokens of the Google Reader API, and keys of the Fever API.

name and password ─► `recognise` ─► AppLogin, whose token the app keeps
                         └─ None ─► `start_attempt` (throttle) ─► `verify` (argon2) ─► AppLogin or Unauthorized
token ─► `by_token`       Fever key ─► `by_fever_key`
"""

from __future__ import annotations

import hmac
from urllib.parse import unquote

from msgspec import Struct

from tidings.base.errors import Unauthorized
from tidings.base.messages import msg
from tidings.domain.accounts.api_passwords import fever_key_digest, password_digest, reader_token
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read
from tidings.services.accounts.authentication import (
    WRONG_PASSWORD,
    Authentication,
    Credentials,
    is_due,
    is_login_due,
)
from tidings.services.accounts.server_secret import ServerSecret
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.storage.accounts import api_passwords, users
from tidings.storage.accounts.api_passwords import ApiPassword


class AppLogin(Struct, frozen=True):
    """A user of an app of the Google Reader API, with the app's token."""

    user: User
    token: str

    def __repr__(self) -> str:
        return f"AppLogin({self.user.username!r})"


class FeverLogin(Struct, frozen=True):
    """A user who signed in with an app of the Fever API."""

    user: User
    password_id: int
    """The API password that the key was made from."""


class AppLogins:
    def __init__(
        self, database: Database, clock: Clock, authentication: Authentication, listeners: Listeners | None = None
    ) -> None:
        self._database = database
        self._clock = clock
        self._authentication = authentication
        self._secret = ServerSecret(database)
        self._listeners = listeners or Listeners()

    def recognise(self, fields: Credentials) -> AppLogin | None:
        """Return the login of an API password, or of an account password that was verified in the last minutes.

        None when the password has to be verified first. Raises Unauthorized when there is no name or no password.
        """
        if not fields.username or not fields.password or "\0" in fields.username:
            raise Unauthorized(WRONG_PASSWORD)
        secret = self._secret.get()
        with self._database.reading() as db:
            user = users.by_name(db, fields.username)
            api_password = self._api_password(db, secret, user, fields.password) if user else None
        if user is not None and api_password is not None:
            self._record_use(user, api_password, fields.origin(Method.API_PASSWORD))
            return self._login(user, api_password.password_digest)
        known = self._authentication.recognise_password(fields)
        return self._login_of_account(known) if known and known.allow_account_password_in_apps else None

    def start_attempt(self, fields: Credentials) -> float:
        """See `Authentication.start_attempt`."""
        return self._authentication.start_attempt(fields)

    def verify(self, fields: Credentials) -> AppLogin:
        """Return the login of an account password. Raises Unauthorized, including if apps need an API password."""
        return self._login_of_account(self._authentication.verify_alone(fields, for_app=True))

    def by_token(self, token: str, origin: Origin) -> AppLogin:
        """Return the login that a token of the Google Reader API belongs to. Raises Unauthorized."""
        quoted, _, digits = token.strip().partition("/")
        username = unquote(quoted)
        secret = self._secret.get()
        user = None
        if username and digits and "\0" not in username:
            with self._database.reading() as db:
                user = users.by_name(db, username)
                login, api_password = self._of_token(db, secret, user, digits) if user else (None, None)
            if login is not None:
                self._record_use(login.user, api_password)
                return login
        # Only the name of a user: what was sent may be a password in the wrong field.
        self._authentication.refuse(
            "unknown token",
            origin=origin,
            method=Method.API_PASSWORD,
            username=user.username if user else "",
            user_id=user.id if user else None,
        )
        raise Unauthorized(UNKNOWN_TOKEN)

    def by_fever_key(self, key: str, origin: Origin) -> FeverLogin | None:
        """Return the login that a Fever key belongs to, None for an unknown one.

        key: as the client sent it: the MD5 of username and API password, in hex digits.
        """
        digest = fever_key_digest(self._secret.get(), key)
        with self._database.reading() as db:
            api_password = api_passwords.by_fever_key(db, digest)
            user = users.get(db, api_password.user_id) if api_password else None
        if user is None or api_password is None:
            self._authentication.refuse("unknown Fever key", origin=origin, method=Method.API_PASSWORD)
            return None
        self._record_use(user, api_password)
        return FeverLogin(user, api_password.id)

    def throttle_unknown_key(self, address: str) -> float:
        """See `Authentication.throttle_unknown_key`."""
        return self._authentication.throttle_unknown_key(address)

    def _api_password(self, db: Read, secret: bytes, user: User, password: str) -> ApiPassword | None:
        digest = password_digest(secret, user.id, password.strip())
        stored = api_passwords.list_all(db, user.id)
        return next(
            (api_password for api_password in stored if hmac.compare_digest(api_password.password_digest, digest)), None
        )

    def _of_token(self, db: Read, secret: bytes, user: User, digits: str) -> tuple[AppLogin | None, ApiPassword | None]:
        """Return the login with this token, and its API password; None for the password of the account."""
        for api_password in api_passwords.list_all(db, user.id):
            token = reader_token(secret, user.username, user.id, api_password.password_digest)
            if _is_same(token, digits):
                return AppLogin(user, token), api_password
        token = reader_token(secret, user.username, user.id, users.password_hash(db, user.id).encode())
        is_allowed = user.allow_account_password_in_apps and not self._listeners.passwords_disabled
        if is_allowed and _is_same(token, digits) and not self._listeners.second_step(db, user, Method.PASSWORD):
            return AppLogin(user, token), None
        return None, None

    def _login(self, user: User, stored: bytes) -> AppLogin:
        return AppLogin(user, reader_token(self._secret.get(), user.username, user.id, stored))

    def _login_of_account(self, user: User) -> AppLogin:
        with self._database.reading() as db:
            stored = users.password_hash(db, user.id)
        return self._login(user, stored.encode())

    def _record_use(self, user: User, password: ApiPassword | None, origin: Origin | None = None) -> None:
        """Store the time of the last use, at most once a minute. origin: of a sign-in."""
        now = self._clock()
        login_due = is_login_due(self._database, user, now)
        password_due = password is not None and is_due(password.last_used_at, now)
        if not login_due and not password_due:
            return
        with self._database.writing() as db:
            if login_due:
                users.set_last_login(db, user.id, now)
            if password is not None:
                api_passwords.set_last_used(db, password.user_id, password.id, now)
            if password is not None and origin is not None:
                self._listeners.tell_account(
                    db,
                    AccountEvent.of(EventKind.SIGNED_IN, user, at=now, origin=origin, detail=password.name),
                )


def _is_same(token: str, digits: str) -> bool:
    """Compare in constant time. digits: the digits of the token that was sent."""
    return hmac.compare_digest(token.rpartition("/")[2].encode(), digits.encode("utf-8", "replace"))


UNKNOWN_TOKEN = msg("This token is not known: sign in again.")
