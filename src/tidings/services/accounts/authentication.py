"""Authenticates requests by an API key, or by a username and password (docs/api.md).

`recognise` is quick and answers for keys and for passwords that were verified in the last minutes. Any other password
goes through `start_attempt` and `verify`, which cost time on purpose.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Sequence

from msgspec import Struct

from tidings.base.errors import Unauthorized
from tidings.base.messages import msg
from tidings.base.times import MINUTE, SECOND, Instant
from tidings.domain.accounts.throttle import FORGET_AFTER, Bucket, Throttle, buckets_of, network_bucket
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled, UnknownApiKey
from tidings.engine.database import Database, Read
from tidings.services.accounts import passwords
from tidings.services.accounts.refusal_log import RefusalLog
from tidings.services.clock import Clock
from tidings.storage.accounts import api_keys, sign_in_failures, users
from tidings.storage.accounts.api_keys import ApiKeyCaller

WRITE_LOGIN_EVERY = 1 * MINUTE


class Credentials(Struct, frozen=True):
    """Everything in a request that can prove who the user is."""

    token: str = ""
    """The value of X-Auth-Token, or ""."""
    username: str = ""
    password: str = ""
    address: str = ""
    """The client's IP address."""
    browser: str = ""
    """The token that `remember_browser` returned for this browser, or ""."""

    def __repr__(self) -> str:
        return f"Credentials({self.username!r} from {self.address})"


class Recognised(Struct, frozen=True):
    """The sender of a request.

    needs_icon_object: the API key belongs to an app that fails at a feed whose icon is null.
    """

    user: User
    needs_icon_object: bool = False


class Authentication:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._verified = passwords.VerifiedPasswords()
        self._throttle = Throttle()
        self._throttle_lock = threading.Lock()
        self._refusals = RefusalLog()

    def recognise_password(self, credentials: Credentials) -> User | None:
        """Return the user whose password was verified in the last minutes; None for any other. Records no use."""
        with self._database.reading() as db:
            return self._by_name(db, credentials) if credentials.username and credentials.password else None

    def recognise(self, credentials: Credentials) -> Recognised | None:
        """Return who sends a request, or None if the password has to be verified first.

        Raises Unauthorized without credentials, and UnknownApiKey.
        """
        with self._database.reading() as db:
            key = self._key(db, credentials) if credentials.token else None
            user = key.user if key else self._by_name(db, credentials)
        if user is None:
            return None
        return Recognised(self._record_use(user, key), needs_icon_object=key is not None and key.needs_icon_object)

    def start_attempt(self, credentials: Credentials) -> float:
        """Return the seconds to wait before `verify`; 0 unless there were several failures.

        Raises SignInThrottled if the wait would be too long. Reads the database: not for the event loop.
        """
        with self._database.reading() as db:
            buckets = self._buckets(credentials, self._stored(db, credentials)[1])
        return self._start(buckets, credentials)

    def throttle_unknown_key(self, address: str) -> float:
        """Count an unknown key as a failure of the network it came from. Returns the seconds to wait before the answer.

        Keys are too long to guess: this limits what guessing costs. Raises SignInThrottled as `start_attempt` does.
        """
        buckets = (network_bucket(address),)
        wait_s = self._start(buckets, Credentials(address=address))
        self._count_failure(buckets)
        return wait_s

    def _start(self, buckets: Sequence[Bucket], credentials: Credentials) -> float:
        now = self._clock()
        with self._database.reading() as db:
            keys = [key for bucket in buckets for key in bucket.keys]
            counts = sign_in_failures.failure_counts(db, keys, since=Instant(now - FORGET_AFTER))
        with self._throttle_lock:
            decision = self._throttle.start_attempt(buckets, counts, now)
        if decision.is_refused:
            self._refusals.log("too many failures", username=credentials.username, address=credentials.address)
            raise SignInThrottled(THROTTLED, retry_after_s=-(-decision.wait // SECOND))
        return decision.wait / SECOND

    def verify(self, credentials: Credentials, *, for_app: bool = False) -> User:
        """Return the user with this name and password; raises Unauthorized.

        The caller has waited for as long as `start_attempt` returned.
        for_app: refuse the password of a user who allows apps their API passwords only.
        """
        with self._database.reading() as db:
            user, stored = self._stored(db, credentials)
        buckets = self._buckets(credentials, stored)
        # Another attempt with the same password may have succeeded while this one waited.
        is_known = self._verified.knows(stored, credentials.password, self._clock())
        is_right = is_known or passwords.matches(stored, credentials.password)
        if not is_right or user is None or (for_app and not user.allow_account_password_in_apps):
            self._failed(credentials, buckets)
            raise Unauthorized(WRONG_PASSWORD)
        self._succeeded(buckets)
        self._verified.remember(stored, credentials.password, self._clock())
        return self._record_use(user, None)

    def remember_browser(self, credentials: Credentials) -> str:
        """Return the token that a browser stores after a sign-in and sends as `Credentials.browser` the next time."""
        with self._database.reading() as db:
            _, stored = self._stored(db, credentials)
        return credentials.browser if known_browser_id(credentials.browser, stored) else new_browser_token(stored)

    def _stored(self, db: Read, credentials: Credentials) -> tuple[User | None, str]:
        """Return the user with this name and the hash of the password; None and a dummy hash for an unknown name."""
        user = users.by_name(db, credentials.username)
        return user, users.password_hash(db, user.id) if user else passwords.UNKNOWN_USER_HASH

    def _buckets(self, credentials: Credentials, stored: str) -> tuple[Bucket, ...]:
        browser = known_browser_id(credentials.browser, stored) if credentials.browser else ""
        return buckets_of(credentials.username, credentials.address, browser)

    def _failed(self, credentials: Credentials, buckets: Sequence[Bucket]) -> None:
        self._count_failure(buckets)
        self._refusals.log("wrong name or password", username=credentials.username, address=credentials.address)

    def _count_failure(self, buckets: Sequence[Bucket]) -> None:
        now = self._clock()
        with self._throttle_lock:
            next_attempts = self._throttle.end_attempt(buckets, now)
        with self._database.writing() as db:
            sign_in_failures.add_failure(db, next_attempts, now=now, since=Instant(now - FORGET_AFTER))

    def _succeeded(self, buckets: Sequence[Bucket]) -> None:
        """Delete the failures of the name at this address. Reads first, so that most sign-ins write nothing."""
        own, now = buckets[0], self._clock()
        with self._throttle_lock:
            self._throttle.end_attempt(buckets, now)
            self._throttle.reset(own)
        with self._database.reading() as db:
            has_failed = sign_in_failures.failure_counts(db, [own.key], since=Instant(now - FORGET_AFTER))
        if has_failed:
            with self._database.writing() as db:
                sign_in_failures.remove(db, own.key)

    def _key(self, db: Read, credentials: Credentials) -> ApiKeyCaller:
        key = api_keys.caller(db, credentials.token)
        if key is None:
            self._refusals.log("unknown API key", username="", address=credentials.address)
            raise UnknownApiKey(msg("This API key is not known: check X-Auth-Token, or create a new key."))
        return key

    def _by_name(self, db: Read, credentials: Credentials) -> User | None:
        if not credentials.username or not credentials.password:
            raise Unauthorized(NO_CREDENTIALS)
        user, stored = self._stored(db, credentials)
        if user and self._verified.knows(stored, credentials.password, self._clock()):
            return user
        return None

    def _record_use(self, user: User, key: ApiKeyCaller | None) -> User:
        """Store the time of the last use, at most once a minute, and return the user.

        The first use is stored before the response, because a client relies on it.
        """
        now = self._clock()
        login_due = user.last_login_at is None or now - user.last_login_at > WRITE_LOGIN_EVERY
        key_due = key is not None and (key.last_used_at is None or now - key.last_used_at > WRITE_LOGIN_EVERY)
        if not login_due and not key_due:
            return user
        with self._database.writing() as db:
            users.set_last_login(db, user.id, now)
            if key is not None:
                api_keys.set_last_used(db, user.id, key.id, now)
            return users.get(db, user.id) or user


NO_CREDENTIALS = msg(
    "Sign in: send a username and password as HTTP Basic authentication, or an API key in X-Auth-Token."
)
THROTTLED = msg(
    "Too many failed sign-ins: try again in half a minute. API keys, API passwords, open sessions, and browsers in "
    "which you have signed in before keep working."
)
WRONG_PASSWORD = msg("The username or the password is wrong.")


# Tokens of browsers in which a user has signed in before, so that attackers who have the name do not lock them out.
# A token is an id and a signature of it. The key is the stored hash of the password, which every process can read and
# only the service has: a new password invalidates all tokens, and no table of browsers is needed.
BROWSER_ID_BYTES = 12


def new_browser_token(password_hash: str) -> str:
    """Return a new token for a browser in which the user signed in with this password."""
    browser = secrets.token_urlsafe(BROWSER_ID_BYTES)
    return f"{browser}.{_browser_signature(password_hash, browser)}"


def known_browser_id(token: str, password_hash: str) -> str:
    """Return the id of the browser if the token is genuine, else ""."""
    browser, _, signature = token.partition(".")
    is_genuine = hmac.compare_digest(signature.encode(), _browser_signature(password_hash, browser).encode())
    return browser if is_genuine else ""


def _browser_signature(password_hash: str, browser: str) -> str:
    return hmac.new(password_hash.encode(), f"known browser {browser}".encode(), hashlib.sha256).hexdigest()
