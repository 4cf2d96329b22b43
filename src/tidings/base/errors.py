"""The root of all errors that a user, an operator or a caller can act on, and the errors that every part shares.

    TidingsError
    ├── InvalidInput            the input cannot be used; names the field
    │   └── InvalidField        the same; the message begins with the name of the field
    ├── NotFound                does not exist or belongs to another user: the two are indistinguishable on purpose
    ├── CursorExpired           a client has to begin again without its cursor
    ├── Forbidden               known caller, not allowed
    ├── Unauthorized            unknown caller
    ├── ImportRunning           an earlier import or upload of this user has not ended
    ├── InsufficientStorage     the disk of the service is full
    ├── StoreUnavailable        the database does not answer
    ├── LocalShortage           this machine is short of files, memory or threads
    └── StartError              the service cannot start with its settings

`content`, `query`, `net`, `engine` and `domain` add theirs in a module `errors`; a slice defines its own where it
raises them. A message says what happened and what to do next. Users see it, so it contains no SQL, no traceback
and no secrets.
"""

from __future__ import annotations

from typing import ClassVar

from tidings.base.messages import Message, msg, prefix_field, verbatim


class TidingsError(Exception):
    """The root of all errors that Tidings raises on purpose.

    text: the message, which can be rendered in any language. message: the message in English, for API, log and
    terminal.
    """

    code: ClassVar[str] = "error"
    """Stable name for logs and documentation."""
    is_retryable: ClassVar[bool] = False
    """Whether trying again later can help."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.text = message

    def __str__(self) -> str:
        return self.text.english()

    @property
    def message(self) -> str:
        return str(self)


class InvalidInput(TidingsError):
    """A value from outside that cannot be accepted.

    field: the name of the field, parameter or setting as the client sends it; "" if the whole input is wrong.
    """

    code = "invalid-input"

    def __init__(self, message: Message, *, field: str = "") -> None:
        super().__init__(message)
        self.field = field

    @property
    def problem(self) -> Message:
        """What is wrong, without the name of the field: pages show it next to the labelled field."""
        return self.text

    def with_field(self, field: str) -> InvalidInput:
        """Return the same error with another field name, for a client that uses that name."""
        text = self.text.with_texts(lambda text: text.replace(self.field, field)) if self.field else self.text
        return InvalidInput(text, field=field)


class InvalidField(InvalidInput):
    """The message consists of the name of the field and the problem, as in "limit: send a whole number."."""

    def __init__(self, field: str, problem: Message) -> None:
        super().__init__(prefix_field(field, problem), field=field)
        self._problem = problem

    @property
    def problem(self) -> Message:
        return self._problem

    def with_field(self, field: str) -> InvalidField:
        return InvalidField(field, self._problem)


class NotFound(TidingsError):
    code = "not-found"


class CursorExpired(TidingsError):
    """What has changed since a client's cursor is not known any more: it has to begin again."""

    code = "cursor-expired"


class Forbidden(TidingsError):
    code = "forbidden"


class Unauthorized(TidingsError):
    code = "unauthorized"


class ImportRunning(TidingsError):
    """Another import of this user is still running: a user can run only one at a time."""

    code = "import-running"
    is_retryable = True


class InsufficientStorage(TidingsError):
    """The disk of the service has too little free space."""

    code = "insufficient-storage"
    is_retryable = True


class StoreUnavailable(TidingsError):
    """The database cannot be used now.

    reason: the database's error, for log and terminal only.
    is_of_transaction: the database rolled back this transaction alone, such as after a deadlock; another may succeed.
    """

    code = "store-unavailable"
    is_retryable = True

    def __init__(self, message: Message, *, reason: str = "", is_of_transaction: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.is_of_transaction = is_of_transaction


class LocalShortage(TidingsError):
    """This machine is short of files, memory or threads: neither the publisher nor the network is the cause."""

    code = "local-shortage"
    is_retryable = True

    def __init__(self) -> None:
        super().__init__(
            msg("The server of Tidings is short of files, memory or threads at the moment; try again shortly.")
        )


class StartError(TidingsError):
    """A process cannot start: one line in English for the terminal, and a non-zero exit code."""

    code = "cannot-start"

    def __init__(self, message: str) -> None:
        super().__init__(verbatim(message))
