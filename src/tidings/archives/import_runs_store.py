"""The last import of each user, which a background process runs."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import and_, bindparam, delete, or_, select, update

from tidings.archives.import_runs import UNFINISHED, ImportRun, ImportState
from tidings.archives.tables import account_imports
from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import ANY, Kind

_is_owned = account_imports.c.user_id == bindparam("user")
_is_unfinished = account_imports.c.state.in_([str(state) for state in UNFINISHED])
_select = select(*columns(account_imports, ImportRun)).where(_is_owned)
_delete_finished = delete(account_imports).where(
    _is_owned, or_(~_is_unfinished, account_imports.c.renewed_at < bindparam("abandoned"))
)
_insert = upsert(account_imports, ["user_id"])
_is_held = (_is_owned, account_imports.c.token == bindparam("run"))
_renew = (
    update(account_imports)
    .where(*_is_held, _is_unfinished)
    .values(
        state=bindparam("new_state"),
        steps_done=bindparam("done"),
        steps_total=bindparam("total"),
        renewed_at=bindparam("now"),
    )
)
_finish = (
    update(account_imports)
    .where(*_is_held)
    .values(
        state=bindparam("new_state"),
        finished_at=bindparam("now"),
        report=bindparam("new_report"),
        error=bindparam("new_error"),
        error_form=bindparam("new_form"),
    )
)
_select_token = select(account_imports.c.token).where(_is_owned)
_is_open = or_(
    and_(_is_unfinished, account_imports.c.renewed_at >= bindparam("abandoned")),
    and_(account_imports.c.state == str(ImportState.ASKING), account_imports.c.renewed_at >= bindparam("forgotten")),
)
_select_open = select(account_imports.c.token).where(_is_owned, _is_open)
_is_asked = (
    account_imports.c.state == str(ImportState.ASKING),
    account_imports.c.started_at == bindparam("started"),
    account_imports.c.renewed_at >= bindparam("forgotten"),
)
_ask = (
    update(account_imports)
    .where(*_is_held, _is_unfinished)
    .values(state=str(ImportState.ASKING), renewed_at=bindparam("now"), report=bindparam("new_report"))
)
_select_asked = select(account_imports.c.token, account_imports.c.origin).where(_is_owned, *_is_asked)
_resume = (
    update(account_imports)
    .where(*_is_held, *_is_asked)
    .values(state=str(ImportState.WAITING), renewed_at=bindparam("now"), report="")
)
_delete_asked = delete(account_imports).where(_is_owned, *_is_asked)


class AskedImport(Struct, frozen=True):
    """An import that waits for an answer."""

    token: str
    """Part of the name of its file."""
    origin: str


def of_user(db: Read, user_id: int) -> ImportRun | None:
    return db.one(ImportRun, _select, user=user_id)


def open_token(db: Read, user_id: int, *, abandoned: Instant, forgotten: Instant) -> str:
    """Return the token of the user's import whose file is needed, "" if there is none.

    It runs and was renewed since `abandoned`, or asks since `forgotten` or later.
    """
    return db.scalar(_select_open, user=user_id, abandoned=abandoned, forgotten=forgotten) or ""


def ask(db: Write, user_id: int, token: str, *, review: str, now: Instant) -> bool:
    """Record that the import waits for an answer. Returns False if it was replaced by another one, or has ended."""
    _note(db, user_id)
    return db.run(_ask, user=user_id, run=token, new_report=review, now=now) > 0


def asked(db: Read, user_id: int, started_at: Instant, *, forgotten: Instant) -> AskedImport | None:
    """Return the user's import that asks and began then; None if it has been answered, replaced or forgotten."""
    return db.one(AskedImport, _select_asked, user=user_id, started=started_at, forgotten=forgotten)


def resume(db: Write, user_id: int, token: str, started_at: Instant, *, now: Instant, forgotten: Instant) -> bool:
    """Let an import that asks continue. Returns False if another answer came first."""
    _note(db, user_id)
    return db.run(_resume, user=user_id, run=token, started=started_at, now=now, forgotten=forgotten) > 0


def drop(db: Write, user_id: int, started_at: Instant, *, forgotten: Instant) -> bool:
    """Delete an import that asks. Returns False if none began then."""
    _note(db, user_id)
    return db.run(_delete_asked, user=user_id, started=started_at, forgotten=forgotten) > 0


def begin(db: Write, user_id: int, token: str, *, source: str, origin: str, now: Instant, abandoned: Instant) -> bool:
    """Replace the user's last import by a new one. Returns False if that one has not ended.

    abandoned: an unfinished import that was not renewed since then does not count.
    """
    _note(db, user_id)
    db.run(_delete_finished, user=user_id, abandoned=abandoned)
    row = {
        "user_id": user_id, "token": token, "source": source, "origin": origin,
        "state": str(ImportState.WAITING), "started_at": now, "renewed_at": now,
    }  # fmt: skip
    db.run(_insert.values(**row))
    # Psycopg does not report the number of rows of this statement.
    return bool(db.scalar(_select_token, user=user_id) == token)


def renew(
    db: Write, user_id: int, token: str, *, state: ImportState, steps_done: int, steps_total: int, now: Instant
) -> bool:
    """Record the progress of an import. Returns False if it was replaced by another one, or has ended."""
    _note(db, user_id)
    return db.run(
        _renew, user=user_id, run=token, new_state=str(state), done=steps_done, total=steps_total, now=now
    ) > 0  # fmt: skip


def finish(
    db: Write,
    user_id: int,
    token: str,
    *,
    state: ImportState,
    now: Instant,
    report: str = "",
    error: str = "",
    error_form: str = "",
) -> None:
    """Record the end of an import, unless another one replaced it."""
    _note(db, user_id)
    db.run(
        _finish,
        user=user_id, run=token, new_state=str(state), now=now,
        new_report=report, new_error=error, new_form=error_form,
    )  # fmt: skip


def _note(db: Write, user_id: int) -> None:
    """Tell clients that listen how far the import is."""
    change_log.note(db, user_id, Kind.IMPORT, [ANY])
