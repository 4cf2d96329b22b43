"""The themes: each a module with its attempts as data and the code that makes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from abuse.testbed import Theme
from abuse.themes import (
    account_log,
    archives,
    authorisation,
    codes,
    connections,
    csrf,
    doubling,
    expensive_files,
    foreign_hosts,
    header_injection,
    heavy_requests,
    invitations,
    letters,
    limits,
    parser_bombs,
    passkeys,
    rules,
    secrets_in_logs,
    sign_in,
    smuggling,
    ssrf,
    throttling,
    traversal,
    xss,
)

THEMES: Final[Mapping[str, Theme]] = {
    "ssrf": ssrf.run,
    "xss": xss.run,
    "authorisation": authorisation.run,
    "csrf": csrf.run,
    "connections": connections.run,
    "parser_bombs": parser_bombs.run,
    "doubling": doubling.run,
    "rules": rules.run,
    "expensive_files": expensive_files.run,
    "header_injection": header_injection.run,
    "heavy_requests": heavy_requests.run,
    "smuggling": smuggling.run,
    "traversal": traversal.run,
    "sign_in": sign_in.run,
    "invitations": invitations.run,
    "passkeys": passkeys.run,
    "codes": codes.run,
    "account_log": account_log.run,
    "limits": limits.run,
    "letters": letters.run,
    "throttling": throttling.run,
    "secrets_in_logs": secrets_in_logs.run,
    "archives": archives.run,
    "foreign_hosts": foreign_hosts.run,
}
