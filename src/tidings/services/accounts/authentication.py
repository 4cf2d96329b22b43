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
from tidings.base.times import DAY, MINUTE, SECOND, Instant
from tidings.domain.accounts.events import MAX_ADDRESS, AccountEvent, EventKind, Method, Origin, printable
from tidings.domain.accounts.rights import ALL_RIGHTS, Rights
from tidings.domain.accounts.throttle import (
    FORGET_AFTER,
    Bucket,
    Throttle,
    buckets_of,
    network_bucket,
    secret_buckets,
)
from tidings.domain.accounts.users import User
from tidings.domain.errors import ExpiredApiKey, SignInThrottled, UnknownApiKey
from tidings.engine.database import Database, Read
from tidings.services.accounts import passwords
from tidings.services.accounts.refusals import Refusals
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.storage.accounts import api_keys, sign_in_failures, users
from tidings.storage.accounts.api_keys import ApiKeyCaller

WRITE_LOGIN_EVERY = 1 * MINUTE
# Where users are copied to several servers, each server writes the time, and nobody else's at the same moment.
WRITE_COPIED_LOGIN_EVERY = 1 * DAY


class Credentials(Struct, frozen=True):
    """Everything in a request that can prove who the user is."""

    token: str = ""
    """The value of X-Auth-Token, or ""."""
    username: str = ""
    password: str = ""
    address: str = ""
    """The client's IP address."""
    user_agent: str = ""
    browser: str = ""
    """The token that `remember_browser` returned for this browser, or ""."""

    def origin(self, method: Method) -> Origin:
        return Origin.of_request(self.address, self.user_agent, method)

    def __repr__(self) -> str:
        return f"Credentials({self.username!r} from {self.address})"


class Recognised(Struct, frozen=True):
    """The sender of a request."""

    user: User
    rights: Rights = ALL_RIGHTS
    key_id: int = 0
    """The id of the API key; 0 for a password."""
    needs_icon_object: bool = False
    """The API key belongs to an app that fails at a feed whose icon is null."""


class Attempt:
    """An attempt to prove who one is with anything but a password: it waits its turn, and then fails or succeeds."""

    def __init__(
        self,
        authentication: Authentication,
        buckets: Sequence[Bucket],
        user: User | None,
        origin: Origin,
        wait_s: float,
    ) -> None:
        self._authentication = authentication
        self._buckets = buckets
        self._user = user
        self._origin = origin
        self.wait_s = wait_s
        """Seconds to wait before the secret is compared."""

    def succeeded(self) -> None:
        """Forget the failures of the user here."""
        self._authentication.end_attempt(self._buckets, has_failed=False)

    def failed(self, reason: str, *, username: str = "") -> None:
        """Count a failure, log it and tell listeners. username: as it was sent; the user's if none is given."""
        self._authentication.end_attempt(self._buckets, has_failed=True)
        assert self._origin.method is not None
        self._authentication.refuse(
            reason,
            origin=self._origin,
            method=self._origin.method,
            username=username or (self._user.username if self._user else ""),
            user_id=self._user.id if self._user else None,
        )


class Authentication:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners | None = None) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners or Listeners()
        self._verified = passwords.VerifiedPasswords()
        self._throttle = Throttle()
        self._throttle_lock = threading.Lock()
        self._refusals = Refusals(database, clock, self._listeners)

    def recognise_password(self, credentials: Credentials) -> User | None:
        """Return the user whose password was verified in the last minutes; None for any other. Records no use.

        The password alone has to let in: see `verify_alone`.
        """
        if self._listeners.passwords_disabled:
            return None
        with self._database.reading() as db:
            return self._by_name(db, credentials) if credentials.username and credentials.password else None

    def recognise(self, credentials: Credentials) -> Recognised | None:
        """Return who sends a request, or None if the password has to be verified first.

        Raises Unauthorized without credentials, UnknownApiKey and ExpiredApiKey.
        """
        with self._database.reading(by_key=True) as db:
            key = api_keys.caller(db, credentials.token) if credentials.token else None
            user = key.user if key else None if credentials.token else self._by_name(db, credentials)
        if credentials.token and key is None:
            self.refuse("unknown API key", origin=credentials.origin(Method.API_KEY), method=Method.API_KEY)
            raise UnknownApiKey(msg("This API key is not known: check X-Auth-Token, or create a new key."))
        if user is None:
            return None
        if key is None:
            return Recognised(self._record_use(user))
        if key.rights.expires_at is not None:
            self._refuse_expired(key, credentials)
        return Recognised(self._record_use(user, key, credentials.address), key.rights, key.id, key.needs_icon_object)

    def _refuse_expired(self, key: ApiKeyCaller, credentials: Credentials) -> None:
        """Raise ExpiredApiKey if a key has expired. Only who has the key learns that it was one."""
        assert key.rights.expires_at is not None
        if self._clock() < key.rights.expires_at:
            return
        origin, user = credentials.origin(Method.API_KEY), key.user
        self.refuse("expired API key", origin=origin, method=Method.API_KEY, username=user.username, user_id=user.id)
        raise ExpiredApiKey(msg("This API key has expired: create a new one."))

    def start_attempt(self, credentials: Credentials) -> float:
        """Return the seconds to wait before `verify`; 0 unless there were several failures.

        Raises SignInThrottled if the wait would be too long, and Unauthorized if no password is accepted. Reads the
        database: not for the event loop.
        """
        self._ensure_accepted(credentials)
        with self._database.reading() as db:
            buckets = self._buckets(credentials, self._stored(db, credentials)[1])
        return self._start(buckets, Method.PASSWORD, credentials.origin(Method.PASSWORD), credentials.username)

    def begin_attempt(self, method: Method, *, user: User | None, origin: Origin, browser: str = "") -> Attempt:
        """Return an attempt with a code, a passkey, or anything else that is not a password.

        user: None if it is not known who tries: then failures count for the network alone.
        browser: the token that `remember_browser` returned for this browser, or "".
        Wait for `wait_s`, and then call one of the methods of the attempt: one that never ends counts as a failure for
        a minute. Raises SignInThrottled.
        """
        origin = Origin(origin.address, origin.user_agent, method)
        if user is None:
            buckets: tuple[Bucket, ...] = (network_bucket(origin.address),)
        else:
            with self._database.reading() as db:
                known = known_browser_id(browser, users.password_hash(db, user.id)) if browser else ""
            buckets = secret_buckets(user.id, origin.address, known)
        wait_s = self._start(buckets, method, origin, user.username if user else "", user)
        return Attempt(self, buckets, user, origin, wait_s)

    def end_attempt(self, buckets: Sequence[Bucket], *, has_failed: bool) -> None:
        """End an attempt that `begin_attempt` returned."""
        if has_failed:
            self._count_failure(buckets)
        else:
            self._succeeded(buckets)

    def refuse(
        self, reason: str, *, origin: Origin, method: Method, username: str = "", user_id: int | None = None
    ) -> None:
        """Log a refused sign-in and tell listeners of it: see `Refusals.record`."""
        self._refusals.record(reason, origin=origin, method=method, username=username, user_id=user_id)

    def throttle_unknown_key(self, address: str) -> float:
        """Count an unknown key as a failure of the network it came from. Returns the seconds to wait before the answer.

        Keys are too long to guess: this limits what guessing costs. Raises SignInThrottled as `start_attempt` does.
        """
        buckets = (network_bucket(address),)
        wait_s = self._start(buckets, Method.API_PASSWORD, Origin(address))
        self._count_failure(buckets)
        return wait_s

    def _start(
        self,
        buckets: Sequence[Bucket],
        method: Method,
        origin: Origin,
        username: str = "",
        user: User | None = None,
    ) -> float:
        now = self._clock()
        with self._database.reading() as db:
            keys = [key for bucket in buckets for key in bucket.keys]
            counts = sign_in_failures.failure_counts(db, keys, since=Instant(now - FORGET_AFTER))
        with self._throttle_lock:
            decision = self._throttle.start_attempt(buckets, counts, now)
        if decision.is_refused:
            user_id = user.id if user else None
            self.refuse("too many failures", origin=origin, method=method, username=username, user_id=user_id)
            raise SignInThrottled(THROTTLED, retry_after_s=-(-decision.wait // SECOND))
        return decision.wait / SECOND

    def verify(self, credentials: Credentials, *, for_app: bool = False) -> User:
        """Return the user with this name and password, whose last use is not stored yet; raises Unauthorized.

        The caller has waited for as long as `start_attempt` returned.
        for_app: refuse the password of a user who allows apps their API passwords only.
        """
        self._ensure_accepted(credentials)
        with self._database.reading() as db:
            user, stored = self._stored(db, credentials)
        buckets = self._buckets(credentials, stored)
        # Another attempt with the same password may have succeeded while this one waited.
        is_known = self._verified.knows(stored, credentials.password, self._clock())
        is_right = is_known or passwords.matches(stored, credentials.password)
        if not is_right or user is None or (for_app and not user.allow_account_password_in_apps):
            self._count_failure(buckets)
            self.refuse(
                "wrong name or password",
                origin=credentials.origin(Method.PASSWORD),
                method=Method.PASSWORD,
                username=credentials.username,
                user_id=user.id if user else None,
            )
            raise Unauthorized(WRONG_PASSWORD)
        self._succeeded(buckets)
        self._verified.remember(stored, credentials.password, self._clock())
        return user

    def _ensure_accepted(self, credentials: Credentials) -> None:
        """Raise Unauthorized if nobody signs in with a password. The same for all names, known or not."""
        if self._listeners.passwords_disabled:
            self.refuse(
                "passwords are switched off",
                origin=credentials.origin(Method.PASSWORD),
                method=Method.PASSWORD,
                username=credentials.username,
            )
            raise Unauthorized(PASSWORDS_DISABLED)

    def verify_alone(self, credentials: Credentials, *, for_app: bool = False) -> User:
        """Like `verify`, where nothing but a password can be sent: it has to let in without a second step."""
        user = self._record_use(self.verify(credentials, for_app=for_app))
        with self._database.reading() as db:
            needs_more = self._listeners.second_step(db, user, Method.PASSWORD) is not None
        if needs_more:
            self.refuse(
                "needs a second step",
                origin=credentials.origin(Method.PASSWORD),
                method=Method.PASSWORD,
                username=credentials.username,
                user_id=user.id,
            )
            raise Unauthorized(NEEDS_SECOND_STEP)
        if self._listeners.account_events:
            with self._database.writing() as db:
                self._listeners.tell_account(
                    db,
                    AccountEvent.of(
                        EventKind.SIGNED_IN, user, at=self._clock(), origin=credentials.origin(Method.PASSWORD)
                    ),
                )
        return user

    def remember_browser(self, user_id: int, browser: str) -> str:
        """Return the token that a browser stores after a sign-in and sends as `Credentials.browser` the next time.

        browser: the token that it has until now, or "".
        """
        with self._database.reading() as db:
            stored = users.password_hash(db, user_id)
        return browser if browser and known_browser_id(browser, stored) else new_browser_token(stored)

    def _stored(self, db: Read, credentials: Credentials) -> tuple[User | None, str]:
        """Return the user with this name and the hash of the password; None and a dummy hash for an unknown name."""
        user = users.by_name(db, credentials.username)
        return user, users.password_hash(db, user.id) if user else passwords.UNKNOWN_USER_HASH

    def _buckets(self, credentials: Credentials, stored: str) -> tuple[Bucket, ...]:
        browser = known_browser_id(credentials.browser, stored) if credentials.browser else ""
        return buckets_of(credentials.username, credentials.address, browser)

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

    def _by_name(self, db: Read, credentials: Credentials) -> User | None:
        if not credentials.username or not credentials.password:
            raise Unauthorized(NO_CREDENTIALS)
        if self._listeners.passwords_disabled:
            return None
        user, stored = self._stored(db, credentials)
        if user is None or not self._verified.knows(stored, credentials.password, self._clock()):
            return None
        return None if self._listeners.second_step(db, user, Method.PASSWORD) else user

    def _record_use(self, user: User, key: ApiKeyCaller | None = None, address: str = "") -> User:
        """Store the time of the last use, at most once a minute, and return the user.

        The first use is stored before the response, because a client relies on it.
        """
        now = self._clock()
        login_due = is_login_due(self._database, user, now)
        key_due = key is not None and is_due(key.last_used_at, now)
        if not login_due and not key_due:
            return user
        with self._database.writing() as db:
            if login_due:
                users.set_last_login(db, user.id, now)
            if key is not None:
                api_keys.set_last_used(db, user.id, key.id, now, printable(address, MAX_ADDRESS))
            return users.get(db, user.id) or user


def is_due(last: Instant | None, now: Instant) -> bool:
    """Return whether to write a time of last use, which is written at most once a minute."""
    return last is None or now - last > WRITE_LOGIN_EVERY


def is_login_due(database: Database, user: User, now: Instant) -> bool:
    """Return whether to write the time of a user's last login."""
    every = WRITE_COPIED_LOGIN_EVERY if database.is_distributed else WRITE_LOGIN_EVERY
    return user.last_login_at is None or now - user.last_login_at > every


NO_CREDENTIALS = msg(
    "Sign in: send a username and password as HTTP Basic authentication, or an API key in X-Auth-Token."
)
THROTTLED = msg(
    "Too many failed sign-ins: try again in half a minute. API keys, API passwords, open sessions, and browsers in "
    "which you have signed in before keep working."
)
NEEDS_SECOND_STEP = msg(
    "This account asks for a second step, which cannot be sent here: use an API key, or an API password."
)
PASSWORDS_DISABLED = msg("Passwords of accounts are not accepted here: use an API key, or an API password.")
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
