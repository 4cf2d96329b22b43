"""Who is calling: an API key or a name with a password (spec/behaviour.md, section 4.1).

`recognise` is quick and answers for keys and for passwords that were verified in the last minutes. Any other password
goes through `turn` and `verify`, which cost time on purpose.
"""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.errors import Unauthorized, UnknownKey
from tidings.domain.throttle import Throttle
from tidings.domain.times import MINUTE, SECOND
from tidings.domain.users import User
from tidings.domain.wording import Words
from tidings.services import passwords
from tidings.services.clock import Clock
from tidings.storage import api_keys, users
from tidings.storage.api_keys import ApiKey
from tidings.storage.database import Database, Read

WRITE_LOGIN_EVERY = 1 * MINUTE


class Credentials(Struct, frozen=True):
    """token: of X-Auth-Token, "" when there was none. address: of the caller."""

    token: str = ""
    username: str = ""
    password: str = ""
    address: str = ""

    def __repr__(self) -> str:
        return f"Credentials({self.username!r} from {self.address})"


class Authentication:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._verified = passwords.VerifiedPasswords()
        self._throttle = Throttle()

    def recognise(self, given: Credentials) -> User | None:
        """None when the password has to be verified first; Unauthorized when nobody can be meant."""
        with self._database.reading() as db:
            key = self._key(db, given.token) if given.token else None
            user = users.get(db, key.user_id) if key else self._by_name(db, given)
        return None if user is None else self._seen(user, key)

    def turn(self, given: Credentials) -> float:
        """Seconds to wait before `verify`, 0 for everybody who does not guess."""
        wait = self._throttle.take_turn(given.address, given.username.lower(), self._clock())
        if wait is None:
            raise Unauthorized("Too many failed sign-ins for this name from this address: try again in half a minute.")
        return wait / SECOND

    def verify(self, given: Credentials) -> User:
        name = given.username.lower()
        with self._database.reading() as db:
            user = users.by_name(db, name)
            stored = users.password_hash(db, user.id) if user else passwords.NOBODY
        if not passwords.matches(stored, given.password) or user is None:
            self._throttle.failed(given.address, name, self._clock())
            raise Unauthorized(WRONG_PASSWORD)
        self._throttle.succeeded(given.address, name)
        self._verified.remember(stored, given.password, self._clock())
        return self._seen(user, None)

    def _key(self, db: Read, token: str) -> ApiKey:
        key = api_keys.by_token(db, token)
        if key is None:
            raise UnknownKey("This API key is not known: check X-Auth-Token, or create a new key.")
        return key

    def _by_name(self, db: Read, given: Credentials) -> User | None:
        if not given.username or not given.password:
            raise Unauthorized(NO_CREDENTIALS)
        user = users.by_name(db, given.username)
        if user and self._verified.knows(users.password_hash(db, user.id), given.password, self._clock()):
            return user
        return None

    def _seen(self, user: User, key: ApiKey | None) -> User:
        """Note the visit, at most once a minute. A first one is noted before it is answered: a client insists on it."""
        now = self._clock()
        login_due = user.last_login_at is None or now - user.last_login_at > WRITE_LOGIN_EVERY
        key_due = key is not None and (key.last_used_at is None or now - key.last_used_at > WRITE_LOGIN_EVERY)
        if not login_due and not key_due:
            return user
        with self._database.writing() as db:
            users.set_last_login(db, user.id, now)
            if key is not None:
                api_keys.set_last_used(db, key.id, now)
            return users.get(db, user.id) or user


NO_CREDENTIALS: Words = (
    "Sign in: send a username and password as HTTP Basic authentication, or an API key in X-Auth-Token."
)
WRONG_PASSWORD: Words = "The username or the password is wrong."  # noqa: S105 - a message
