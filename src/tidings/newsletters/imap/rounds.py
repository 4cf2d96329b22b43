"""One round of a mailbox: what is new in its folder becomes entries.

sign in ─► open the folder ─► UIDs above the last one ─► sizes, recipients ─► fetch one ─► store it ─┐
                                                                          ▲                        │
                                                                          └────────────────────────┘
The UID is written in the transaction that stores the letter. A round that ends early is continued by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Final

import structlog
from msgspec import Struct

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.engine.database import Database, Write
from tidings.newsletters.imap import claims_store, model
from tidings.newsletters.imap.client import Described, FolderState, Session
from tidings.newsletters.imap.model import Account, AddressFinder, Mailbox
from tidings.newsletters.model import Delivery, LetterTarget, NewsletterAddress
from tidings.newsletters.newsletters import Newsletters, Received, Record, TooManyLetters, no_record

log = structlog.get_logger()

# A round begins no further letter after this time.
ROUND_S: Final = 90.0
# What is kept of a message that is too large.
_KEPT_BYTES: Final = 100_000
_TOO_LARGE: Final = msg(
    "This message is too large to be fetched: at most {count} MiB. It is in the mailbox.",
    count=MAX_LETTER_BYTES // 2**20,
)


class ClaimLost(Exception):
    """Another worker reads the mailbox, or its user has changed it."""


class RoundResult(Struct):
    """What a round has done."""

    stored: int = 0
    is_finished: bool = True
    """False if there is more, which the next round takes."""


class Round:
    """One round of a claimed mailbox, in one thread. finder: for the mailbox of this installation."""

    def __init__(
        self,
        database: Database,
        newsletters: Newsletters,
        mailbox: Mailbox,
        worker: str,
        *,
        now: Instant,
        finder: AddressFinder | None,
    ) -> None:
        self._database = database
        self._newsletters = newsletters
        self._mailbox = mailbox
        self._worker = worker
        self._now = now
        self._finder = finder
        self._last_uid = mailbox.last_uid
        self._horizon_uid = mailbox.horizon_uid
        self._letters_since = mailbox.letters_since
        self._deferred = mailbox.deferred_uids
        self._tried: list[int] = []
        self._again: list[int] = []

    def run(self, session: Session, account: Account) -> RoundResult:
        """Read what is new. Raises MailboxError, ClaimLost, and InvalidInput if the user has no room for a letter."""
        session.sign_in(account.username, account.password)
        folder = session.open_folder(account.folder, may_write=account.marks_seen)
        self._begin(folder)
        result = RoundResult()
        uids = self._uids(session)
        chosen = uids[: model.MAX_MESSAGES]
        result.is_finished = len(chosen) == len(uids)
        described = session.describe(chosen, with_headers=self._finder is not None)
        for uid in self._within_limits(chosen, described, result):
            if uid in self._deferred:
                self._tried.append(uid)
            self._read(session, uid, described.get(uid), account, result)
            self._last_uid = max(self._last_uid, uid)
        if result.is_finished:
            self._last_uid = max(self._last_uid, folder.uid_next - 1)
        self._write(self._last_uid)
        return result

    def _begin(self, folder: FolderState) -> None:
        """Forget the UIDs of another folder. Letters that have arrived are known by their Message-ID all the same."""
        if folder.uid_validity == self._mailbox.uid_validity:
            return
        if self._mailbox.uid_validity:
            log.warning("mailbox has new numbers", mailbox=self._mailbox.id)
        self._last_uid, self._deferred = 0, []
        self._horizon_uid, self._letters_since = folder.uid_next - 1, model.first_since(self._now)
        with self._database.writing() as db:
            self._change(
                db,
                uid_validity=folder.uid_validity,
                last_uid=0,
                horizon_uid=self._horizon_uid,
                letters_since=self._letters_since,
                deferred="",
            )

    def _uids(self, session: Session) -> list[int]:
        """Return which messages to read: some that were put off, and then what is new, in ascending order."""
        after, horizon = self._last_uid + 1, self._horizon_uid
        old = session.search(after, horizon, model.imap_date(self._letters_since)) if after <= horizon else []
        new = session.search(max(after, horizon + 1), None)
        return [*self._deferred[: model.DEFERRED_PER_ROUND], *old, *new]

    def _within_limits(
        self, uids: Sequence[int], described: dict[int, Described], result: RoundResult
    ) -> Iterator[int]:
        """Yield what this round may read."""
        until, size_bytes = time.monotonic() + ROUND_S, 0
        for number, uid in enumerate(uids):
            size_bytes += min(described[uid].size_bytes, MAX_LETTER_BYTES) if uid in described else 0
            if number and (size_bytes > model.MAX_ROUND_BYTES or time.monotonic() > until):
                result.is_finished = False
                return
            yield uid

    def _read(
        self, session: Session, uid: int, message: Described | None, account: Account, result: RoundResult
    ) -> None:
        """Fetch and store one message. One that has gone, or is for nobody here, is done."""
        if message is None:
            return
        targets = self._targets(message)
        if not targets:
            return
        is_too_large = message.size_bytes > MAX_LETTER_BYTES
        raw = session.fetch(uid, _KEPT_BYTES if is_too_large else MAX_LETTER_BYTES + 1)
        if raw is None:
            return
        if len(raw) > MAX_LETTER_BYTES:
            # Some servers announce a size that is not exact.
            raw, is_too_large = raw[:_KEPT_BYTES], True
        is_stored = self._store(uid, raw, targets, result, is_too_large=is_too_large)
        if is_stored and account.marks_seen:
            session.mark_seen(uid)

    def _targets(self, message: Described) -> list[NewsletterAddress | LetterTarget]:
        if self._finder is None:
            return [LetterTarget(self._mailbox.user_id)] if self._mailbox.user_id is not None else []
        found = map(self._newsletters.address_of, self._finder.secrets(message.headers))
        return [address for address in found if address is not None]

    def _store(
        self,
        uid: int,
        raw: bytes,
        targets: Sequence[NewsletterAddress | LetterTarget],
        result: RoundResult,
        *,
        is_too_large: bool,
    ) -> bool:
        """Store a message for each recipient. Returns False if one of them cannot take it now.

        The last transaction writes how far the mailbox is read; if there is none, one of its own does.
        """
        is_written = False

        def record(db: Write) -> None:
            self._put_down(db, uid)

        for number, target in enumerate(targets, start=1):
            is_last = number == len(targets)
            try:
                received = self._store_for(
                    target, raw, is_too_large=is_too_large, record=record if is_last else no_record
                )
            except NotFound:
                # The address or the user was deleted just now.
                continue
            except (InvalidInput, TooManyLetters) as error:
                if self._finder is None:
                    raise
                log.warning("letter put off", mailbox=self._mailbox.id, uid=uid, reason=error.message)
                if uid not in self._again:
                    self._again.append(uid)
                continue
            is_written = is_last
            result.stored += received.delivery is Delivery.STORED
        if not is_written:
            with self._database.writing() as db:
                record(db)
        return uid not in self._again

    def _store_for(
        self, target: NewsletterAddress | LetterTarget, raw: bytes, *, is_too_large: bool, record: Record
    ) -> Received:
        problem = _TOO_LARGE if is_too_large else None
        if isinstance(target, NewsletterAddress):
            return self._newsletters.receive(target, raw, problem=problem, record=record)
        return self._newsletters.store_letter(target, raw, problem=problem, record=record)

    def _write(self, last_uid: int) -> None:
        with self._database.writing() as db:
            self._put_down(db, last_uid)

    def _put_down(self, db: Write, uid: int) -> None:
        """Write that messages up to this UID are done, and which of them are tried again."""
        waiting, given_up = model.after_deferral(self._deferred, self._tried, self._again)
        for one in given_up:
            log.warning("letter given up", mailbox=self._mailbox.id, uid=one)
        values = {"last_uid": max(self._last_uid, uid), "deferred": " ".join(map(str, waiting))}
        self._change(db, **values)

    def _change(self, db: Write, **values: object) -> None:
        if not claims_store.change_held(db, self._mailbox.id, self._worker, **values):
            raise ClaimLost
