"""Recognises errors that mean that this machine ran out of something: files, memory or threads."""

from __future__ import annotations

import errno

# An error of getaddrinfo, as glibc numbers it.
_EAI_MEMORY = -10
# Source: errno(3). EAGAIN is not among them: a socket without data returns it too.
_ERROR_NUMBERS = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, _EAI_MEMORY})
# The only sign of it that CPython gives.
_NO_THREAD = "can't start new thread"


def is_shortage(error: BaseException | None) -> bool:
    """Return whether an error, or one of its causes, is a shortage of files, memory or threads on this machine."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if _is_shortage(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _is_shortage(error: BaseException) -> bool:
    if isinstance(error, OSError):
        return error.errno in _ERROR_NUMBERS
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_THREAD in str(error))
