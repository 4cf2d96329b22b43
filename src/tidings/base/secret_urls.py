"""Hides what lets somebody in from addresses: names and passwords before the host, and values of the query."""

from __future__ import annotations

import re
from typing import Final

HIDDEN: Final = "[hidden]"
USERINFO: Final = re.compile(r"(?<=://)[^\s/?#@]+(?:@[^\s/?#@]+)*(?=@)")
# A name is read once, up to its first word, since others choose the addresses that are logged.
_IN_NAME: Final = "passw|secret|token|auth|sig|key"
SECRET_PARAMETER: Final = re.compile(
    rf"([?&](?:(?!{_IN_NAME})[^=&#?\s])*+(?:{_IN_NAME})[^=&#?\s]*+=)[^&#\s\"']+", re.IGNORECASE
)
_PARAMETER: Final = re.compile(r"([?&;]([^=&#?;\s]{1,80})=)[^&#;\s\"'<>()\[\]]+")
# Of a name such as `access_token` or `accessToken`.
_BETWEEN_WORDS: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_SECRET_WORDS: Final = frozenset({
    "apikey", "auth", "authkey", "credential", "credentials", "hmac", "jwt", "key", "pass", "passwd", "password", "pwd",
    "secret", "session", "sessionid", "sid", "sig", "signature", "token",
})  # fmt: skip


def hide_secrets(text: str) -> str:
    """Hide the secrets of all addresses in a text. Rather too much than too little: of a parameter, parts of its name
    suffice, such as in `?author=`.
    """
    return SECRET_PARAMETER.sub(rf"\1{HIDDEN}", USERINFO.sub(HIDDEN, text)) if "://" in text else text


def hide_credentials(text: str) -> str:
    """Hide the secrets of all addresses in a text that somebody wants to follow: of a parameter, a word of its name has
    to say that it is one, as in `?access_token=`.
    """
    return _PARAMETER.sub(_without_value, USERINFO.sub(HIDDEN, text)) if "://" in text else text


def _without_value(found: re.Match[str]) -> str:
    words = {word.lower() for word in _BETWEEN_WORDS.split(found[2])}
    return f"{found[1]}{HIDDEN}" if words & _SECRET_WORDS else found[0]
