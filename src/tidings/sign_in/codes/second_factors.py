"""Second factors of accounts: what follows the password at a sign-in.

    password ─► next_step ─► nothing, for most accounts
                         ├─► STEP_PATH: a code of the app, a passkey, or a recovery code
                         └─► SET_UP_PATH: an administrator without a second factor, where it is required

A user switches on an authenticator app, or that a passkey is asked for, or both; then any of them is enough, and the
user gets ten recovery codes. Where one is required, an administrator without an app is asked for a passkey, if there is
one.
"""

from __future__ import annotations

import secrets
from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.domain.accounts.events import AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read, Write
from tidings.services.accounts.server_secret import ServerSecret
from tidings.services.clock import Clock
from tidings.services.listeners import Listeners
from tidings.sign_in.codes import factor_store, recovery, totp
from tidings.sign_in.errors import ProofRefused
from tidings.sign_in.passkeys import passkey_store
from tidings.storage.accounts import users

STEP_PATH: Final = "/sign-in/second-step"
SET_UP_PATH: Final = "/sign-in/set-up"
# After these, nothing else is asked for: a passkey has verified its user, and a provider asks for what it wants.
_FIRST_STEPS: Final = frozenset({Method.PASSWORD, Method.LINK})
_APP, _PASSKEY, _CODES = "authenticator app", "passkey after the password", "recovery codes"
NO_CODE: Final = msg("Type a code.")
_WRONG_FIRST_CODE = msg(
    "This is not the code that the app should show now: read the QR code again, and check the clock of your phone."
)
_WRONG_CODE = msg(
    "This code is not right. Each works once: wait for the next one, and check that the clock of your phone is right."
)


class WrongCode(ProofRefused):
    """A code that is not right, or was used before."""

    def __init__(self) -> None:
        super().__init__("wrong code", _WRONG_CODE, field="code")


class _FreshCodes(Struct, frozen=True):
    """Recovery codes that are not stored yet."""

    codes: list[str]
    digests: list[bytes]


class FactorState(Struct, frozen=True):
    """The second factor of a user, as pages show it."""

    has_app: bool
    asks_for_passkey: bool
    passkeys: int
    """The number of passkeys, including those that do not work under the address of today."""
    codes_left: int
    is_required: bool

    @property
    def is_on(self) -> bool:
        """Whether the password alone is not enough."""
        return self.has_app or self.takes_passkeys

    @property
    def takes_passkeys(self) -> bool:
        """Whether a passkey is a second step: if the user wants that, or next to an app, or where one is required."""
        return self.passkeys > 0 and (self.asks_for_passkey or self.has_app or self.is_required)


class SecondFactors:
    def __init__(
        self, database: Database, clock: Clock, listeners: Listeners, *, issuer: str, admins_need_one: bool
    ) -> None:
        """issuer: the name under which apps list their codes."""
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._secret = ServerSecret(database)
        self._issuer = issuer
        self._admins_need_one = admins_need_one

    def state(self, user: User) -> FactorState:
        with self._database.reading() as db:
            return self._state(db, user)

    def next_step(self, db: Read, user: User, method: Method) -> str | None:
        """Return the path of the page that asks for the second step after this one; None if it is enough."""
        if method not in _FIRST_STEPS:
            return None
        # The same as `FactorState.is_on`, in one query for most users: apps that send a password ask with each request.
        known, is_required = factor_store.get(db, user.id), self._is_required(user)
        takes_passkeys = known.asks_for_passkey or is_required
        if known.secret or (takes_passkeys and passkey_store.count(db, user.id)):
            return STEP_PATH
        return SET_UP_PATH if is_required else None

    def new_secret(self) -> str:
        """Return a secret for an authenticator app, which is stored when the user confirms it by a code."""
        return totp.format_secret(secrets.token_bytes(totp.SECRET_BYTES))

    def app_address(self, user: User, secret: str) -> str:
        """Return the address that an authenticator app reads from a QR code."""
        return totp.app_address(secret, user.username, self._issuer)

    def set_app(self, user: User, secret: str, code: str, origin: Origin) -> list[str]:
        """Switch on an authenticator app, instead of the one before. Returns new recovery codes, if there were none.

        secret: as `new_secret` returned it. Raises InvalidInput if the code is not right.
        """
        step, fresh = self._confirmed(secret, code), self._fresh_codes(user)
        with self._database.writing() as db:
            return self._set_app(db, user, secret, step, fresh, origin)

    def set_first_app(self, user: User, secret: str, code: str, origin: Origin) -> list[str]:
        """Switch on an authenticator app during a sign-in. Returns new recovery codes.

        Raises InvalidInput as `set_app`, and for a user with a second factor: whoever signs in knows just the password.
        """
        step, fresh = self._confirmed(secret, code), self._fresh_codes(user)
        with self._database.writing() as db:
            users.lock(db, user.id)
            if self._state(db, user).is_on:
                raise InvalidInput(msg("You have a second factor already: sign in again."))
            return self._set_app(db, user, secret, step, fresh, origin)

    def remove_app(self, user: User, origin: Origin) -> None:
        """Switch off the authenticator app. Recovery codes go with the last second factor."""
        with self._database.writing() as db:
            if not factor_store.get(db, user.id).secret:
                raise InvalidInput(msg("The authenticator app is switched off already."))
            factor_store.set_app(db, user.id, "", step=0)
            self._tell(db, EventKind.FACTOR_REMOVED, user, _APP, origin)
            self._forget_if_off(db, user)

    def set_asks_for_passkey(self, user: User, asks: bool, origin: Origin) -> list[str]:
        """Switch on or off that a passkey is asked for after the password. Returns new recovery codes, as `set_app`.

        Raises InvalidInput if the user has no passkey.
        """
        fresh = self._fresh_codes(user)
        with self._database.writing() as db:
            known = factor_store.get(db, user.id)
            if asks and not passkey_store.count(db, user.id):
                raise InvalidInput(msg("You have no passkey: add one first."))
            if known.asks_for_passkey == asks:
                return []
            factor_store.set_asks_for_passkey(db, user.id, asks)
            self._tell(db, EventKind.FACTOR_ADDED if asks else EventKind.FACTOR_REMOVED, user, _PASSKEY, origin)
            if asks:
                return self._ensure_codes(db, user, fresh)
            self._forget_if_off(db, user)
            return []

    def passkey_removed(self, db: Write, user: User) -> None:
        """Stop asking for a passkey when the last one has gone. Call it in the transaction that removed one."""
        if factor_store.get(db, user.id).asks_for_passkey and not passkey_store.count(db, user.id):
            factor_store.set_asks_for_passkey(db, user.id, False)
        self._forget_if_off(db, user)

    def new_codes(self, user: User, origin: Origin) -> list[str]:
        """Replace the recovery codes, and return the new ones. Raises InvalidInput without a second factor."""
        fresh = self._fresh_codes(user)
        with self._database.writing() as db:
            if not self._state(db, user).is_on:
                raise InvalidInput(msg("Recovery codes replace a second factor, and you have none."))
            self._tell(db, EventKind.FACTOR_ADDED, user, _CODES, origin)
            factor_store.replace_codes(db, user.id, fresh.digests)
            return fresh.codes

    def use_code(self, user: User, text: str) -> Method:
        """Use up a code of the app, or a recovery code, and return which it was.

        Raises WrongCode, including for one that was used before.
        """
        code, now = recovery.plain(text), self._clock()
        with self._database.reading() as db:
            known = factor_store.get(db, user.id)
        step = totp.matching_step(known.secret, code, now, after=known.last_step) if known.secret else None
        if step is not None:
            with self._database.writing() as db:
                if factor_store.use_step(db, user.id, known.secret, step):
                    return Method.CODE
        elif len(code) == recovery.LENGTH:
            digest = recovery.digest(self._secret.get(), user.id, code)
            with self._database.writing() as db:
                if factor_store.use_code(db, user.id, digest):
                    return Method.RECOVERY_CODE
        raise WrongCode

    def reset(self, db: Write, user: User) -> int:
        """Remove all second factors of a user, and the passkeys, which may be the ones that are lost.

        Returns how many there were.
        """
        had = factor_store.get(db, user.id)
        factor_store.remove(db, user.id)
        removed = passkey_store.remove_all(db, user.id)
        return removed + bool(had.secret) + had.asks_for_passkey

    def _confirmed(self, secret: str, code: str) -> int:
        """Return the step of the code with which a user confirms a new app. Raises InvalidInput."""
        if not totp.is_secret(secret):
            raise InvalidInput(msg("The key of the app is missing: open the page again."))
        if not recovery.plain(code):
            raise InvalidInput(NO_CODE, field="code")
        step = totp.matching_step(secret, recovery.plain(code), self._clock(), after=0)
        if step is None:
            raise InvalidInput(_WRONG_FIRST_CODE, field="code")
        return step

    def _set_app(self, db: Write, user: User, secret: str, step: int, fresh: _FreshCodes, origin: Origin) -> list[str]:
        factor_store.set_app(db, user.id, secret, step=step)
        self._tell(db, EventKind.FACTOR_ADDED, user, _APP, origin)
        return self._ensure_codes(db, user, fresh)

    def _state(self, db: Read, user: User) -> FactorState:
        known = factor_store.get(db, user.id)
        return FactorState(
            has_app=bool(known.secret),
            asks_for_passkey=known.asks_for_passkey,
            passkeys=passkey_store.count(db, user.id),
            codes_left=factor_store.count_codes(db, user.id),
            is_required=self._is_required(user),
        )

    def _is_required(self, user: User) -> bool:
        return self._admins_need_one and user.is_admin

    def _fresh_codes(self, user: User) -> _FreshCodes:
        """Return new recovery codes. Outside of transactions: the secret of the installation may have to be stored."""
        codes = recovery.format_codes(secrets.token_bytes(recovery.CODES * recovery.CODE_BYTES))
        return _FreshCodes(codes, recovery.digests(self._secret.get(), user.id, codes))

    def _ensure_codes(self, db: Write, user: User, fresh: _FreshCodes) -> list[str]:
        if factor_store.count_codes(db, user.id):
            return []
        factor_store.replace_codes(db, user.id, fresh.digests)
        return fresh.codes

    def _forget_if_off(self, db: Write, user: User) -> None:
        if not self._state(db, user).is_on:
            factor_store.remove(db, user.id)

    def _tell(self, db: Write, kind: EventKind, user: User, what: str, origin: Origin) -> None:
        event = AccountEvent.of(kind, user, at=self._clock(), origin=origin, detail=what)
        self._listeners.tell_account(db, event)
