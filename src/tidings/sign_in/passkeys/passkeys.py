"""The passkeys of users: made, used, renamed and removed.

creation_options ─► browser ─► add             (a fresh session)
request_options  ─► browser ─► owner ─► use    (the sign-in page: any passkey, with the user verified)
step_options     ─► browser ─► owner ─► use    (after the password: one of the user's)
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any, Final

import structlog
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.base.times import Instant
from tidings.domain.accounts.events import MAX_DETAIL, AccountEvent, EventKind, Method, Origin
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read, Write
from tidings.services.accounts.server_secret import ServerSecret
from tidings.services.accounts.ways import AccountWays
from tidings.services.clock import Clock
from tidings.services.listeners import AccountWay, Listeners
from tidings.sign_in.codes.second_factors import SecondFactors
from tidings.sign_in.passkeys import ceremonies, challenges, passkey_store
from tidings.sign_in.passkeys.authenticators import model_name
from tidings.sign_in.passkeys.ceremonies import AnswerRefused
from tidings.sign_in.passkeys.challenges import Challenge
from tidings.sign_in.passkeys.passkey_store import NewPasskey, Passkey
from tidings.sign_in.passkeys.relying_party import RelyingParty
from tidings.storage.accounts import users

log = structlog.get_logger()

MAX_NAME: Final = 100
# All of them are sent to a browser that asks for one as the second step.
MAX_PASSKEYS: Final = 50
_UNKNOWN = msg("This passkey is not known here: sign in another way. It may have been removed from your account.")
_USED = msg("This answer was used before: try again.")


class PasskeyOwner(Struct, frozen=True):
    """Whose passkey an answer says that it comes from."""

    user: User
    passkey: Passkey


class Passkeys:
    def __init__(
        self,
        database: Database,
        clock: Clock,
        listeners: Listeners,
        *,
        ways: AccountWays,
        factors: SecondFactors,
        rp: RelyingParty,
    ) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._ways = ways
        self._factors = factors
        self._secret = ServerSecret(database)
        self.rp = rp

    def list_all(self, user_id: int) -> list[Passkey]:
        """Return the passkeys of a user, the oldest first."""
        with self._database.reading() as db:
            return passkey_store.list_all(db, user_id)

    def get(self, user_id: int, passkey_id: int) -> Passkey:
        """Return a passkey of the user. Raises NotFound."""
        with self._database.reading() as db:
            return _owned(db, user_id, passkey_id)

    def account_ways(self, db: Read, user: User) -> list[AccountWay]:
        """Return the passkeys that let into the account without anything else."""
        return [
            AccountWay(method=Method.PASSKEY, name=one.name, id=one.id)
            for one in passkey_store.list_all(db, user.id)
            if self.lets_in(one)
        ]

    def lets_in(self, passkey: Passkey) -> bool:
        """Return whether a passkey is enough to sign in, under the address that the service has now."""
        return passkey.works_alone and self.is_usable(passkey)

    def is_usable(self, passkey: Passkey) -> bool:
        """Return whether browsers offer a passkey under the address that the service has now."""
        return self.rp.problem is None and passkey.host == self.rp.id

    def creation_options(self, user: User, browser: str) -> dict[str, Any]:
        """Return what a browser needs to make a passkey. browser: a secret of it, as `add` takes it."""
        self._require_name()
        challenge = self._issue(challenges.create_purpose(user.id), browser)
        return ceremonies.creation_options(
            self.rp,
            challenge,
            user_handle=self._user_handle(user.id),
            username=user.username,
            known=self.list_all(user.id),
        )

    def request_options(self, browser: str) -> dict[str, Any]:
        """Return what a browser needs to sign in with any passkey of this service."""
        self._require_name()
        return ceremonies.request_options(self.rp, self._issue(challenges.SIGN_IN, browser))

    def step_options(self, user_id: int, browser: str) -> dict[str, Any]:
        """Return what a browser needs to use a passkey of this user after the password. Raises InvalidInput if none."""
        self._require_name()
        known = [one for one in self.list_all(user_id) if self.is_usable(one)]
        if not known:
            raise InvalidInput(msg("You have no passkey that works here."))
        return ceremonies.request_options(
            self.rp, self._issue(challenges.second_step_purpose(user_id), browser), known=known
        )

    def add(self, user: User, answer: str, name: str, *, browser: str, origin: Origin) -> int:
        """Add the passkey that a browser has made. Returns its id.

        name: "" for that of its authenticator. Raises InvalidInput.
        """
        self._require_name()
        if not answer:
            raise InvalidInput(ceremonies.NO_SCRIPT)
        name, now = _checked(name), self._clock()
        check = self._check(challenges.create_purpose(user.id), browser, now)
        try:
            made = ceremonies.verify_creation(answer, self.rp, check)
        except AnswerRefused as error:
            log.info("passkey not added", user_id=user.id, reason=error.reason, detail=error.detail[:MAX_DETAIL])
            raise
        with self._database.writing() as db:
            check.spend(db)
            if passkey_store.count(db, user.id) >= MAX_PASSKEYS:
                raise InvalidInput(msg("You have {max} passkeys: remove one first.", max=MAX_PASSKEYS))
            if passkey_store.by_credential(db, made.credential_id) is not None:
                raise InvalidInput(msg("This passkey has been added before."))
            taken = {one.name for one in passkey_store.list_all(db, user.id)}
            chosen = name or _free_name(model_name(made.aaguid), taken)
            passkey_id = passkey_store.add(
                db,
                user.id,
                NewPasskey(
                    name=chosen,
                    credential_id=made.credential_id,
                    public_key=made.public_key,
                    sign_count=made.sign_count,
                    transports=made.transports,
                    host=self.rp.id,
                    works_alone=made.works_alone,
                    is_syncable=made.is_syncable,
                    is_synced=made.is_synced,
                    aaguid=made.aaguid,
                    created_at=now,
                ),
            )
            self._tell(db, EventKind.PASSKEY_ADDED, user, chosen, origin)
        return passkey_id

    def rename(self, user_id: int, passkey_id: int, name: str) -> None:
        """Raises InvalidInput and NotFound."""
        name = _checked(name)
        if not name:
            raise InvalidField("name", msg("give the passkey a name."))
        with self._database.writing() as db:
            _owned(db, user_id, passkey_id)
            passkey_store.rename(db, user_id, passkey_id, name)

    def remove(self, user: User, passkey_id: int, origin: Origin) -> Passkey:
        """Remove a passkey and return it. Raises NotFound, and LastWayIn if nothing else lets into the account."""
        with self._database.writing() as db:
            passkey = _owned(db, user.id, passkey_id)
            if self.lets_in(passkey):
                self._ways.ensure_another(db, user, Method.PASSKEY, passkey_id)
            passkey_store.remove(db, user.id, passkey_id)
            self._factors.passkey_removed(db, user)
            self._tell(db, EventKind.PASSKEY_REMOVED, user, passkey.name, origin)
        return passkey

    def owner(self, answer: str) -> PasskeyOwner:
        """Return whose passkey an answer names; nothing is verified. Raises AnswerRefused for an unknown one."""
        claim = ceremonies.claim(answer)
        with self._database.reading() as db:
            passkey = passkey_store.by_credential(db, claim.credential_id)
            user = users.get(db, passkey.user_id) if passkey else None
        if passkey is None or user is None:
            raise AnswerRefused("unknown passkey", _UNKNOWN)
        # Without a name, the authenticator has to say whose passkey it is (section 7.2, step 6).
        if claim.user_handle and not hmac.compare_digest(claim.user_handle, self._user_handle(user.id)):
            raise AnswerRefused("unknown passkey", _UNKNOWN)
        return PasskeyOwner(user, passkey)

    def use(self, owner: PasskeyOwner, answer: str, *, browser: str, is_second_step: bool) -> None:
        """Check the answer of a passkey and record its use. Raises AnswerRefused.

        is_second_step: the user has typed the password. Otherwise the passkey is the only proof, so that its
        authenticator must have verified the user.
        """
        self._require_name()
        now, passkey = self._clock(), owner.passkey
        purpose = challenges.second_step_purpose(owner.user.id) if is_second_step else challenges.SIGN_IN
        check = self._check(purpose, browser, now)
        try:
            used = ceremonies.verify_use(answer, self.rp, check, passkey, needs_verified_user=not is_second_step)
        except AnswerRefused as error:
            log.info("passkey not used", user_id=owner.user.id, reason=error.reason, detail=error.detail[:MAX_DETAIL])
            raise
        with self._database.writing() as db:
            check.spend(db)
            if not passkey_store.record_use(db, passkey, sign_count=used.sign_count, is_synced=used.is_synced, now=now):
                raise AnswerRefused("passkey answer used before", _USED)

    def _require_name(self) -> None:
        if self.rp.problem is not None:
            raise InvalidInput(self.rp.problem)

    def _user_handle(self, user_id: int) -> bytes:
        """Return the number by which authenticators know a user. It says nothing about the user, and never changes."""
        return hmac.digest(self._secret.get(), f"passkey user\0{user_id}".encode(), hashlib.sha256)

    def _issue(self, purpose: str, browser: str) -> bytes:
        nonce = secrets.token_bytes(challenges.NONCE_BYTES)
        return challenges.issue(self._secret.get(), purpose, browser, self._clock(), nonce=nonce)

    def _check(self, purpose: str, browser: str, now: Instant) -> _Check:
        return _Check(self._secret.get(), purpose, browser, now)

    def _tell(self, db: Write, kind: EventKind, user: User, name: str, origin: Origin) -> None:
        event = AccountEvent.of(kind, user, at=self._clock(), origin=origin, detail=name)
        self._listeners.tell_account(db, event)


class _Check:
    """Checks the challenge of one answer, and spends it when the answer is right."""

    def __init__(self, secret: bytes, purpose: str, browser: str, now: Instant) -> None:
        self._known = (secret, purpose, browser, now)
        self._challenge: Challenge | None = None

    def __call__(self, challenge: bytes) -> bool:
        secret, purpose, browser, now = self._known
        self._challenge = challenges.check(secret, challenge, purpose, browser, now)
        return self._challenge is not None

    def spend(self, db: Write) -> None:
        """Raises AnswerRefused if the challenge was used before."""
        assert self._challenge is not None
        if not passkey_store.spend(db, self._challenge.nonce, self._challenge.expires_at):
            raise AnswerRefused("passkey answer used before", _USED)


def _owned(db: Read, user_id: int, passkey_id: int) -> Passkey:
    passkey = passkey_store.get(db, user_id, passkey_id)
    if passkey is None:
        raise NotFound(msg("There is no passkey {id}.", id=passkey_id))
    return passkey


def _checked(name: str) -> str:
    name = name.strip()
    if len(name) > MAX_NAME:
        raise InvalidField("name", msg("too long, {max:,} characters at most.", max=MAX_NAME))
    return reject_nul(name, field="name")


def _free_name(name: str, taken: set[str]) -> str:
    return next(one for one in (name, *(f"{name} {n}" for n in range(2, len(taken) + 3))) if one not in taken)
