"""Reads lines of the log as fail2ban does, with the filter in `packaging/`."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from typing import Final

FILTER: Final = Path(__file__).parents[2] / "packaging" / "fail2ban" / "tidings.conf"
# What fail2ban puts in the place of <HOST>, without names of hosts.
_ADDRESS: Final = r"(?P<host>[0-9a-fA-F:.]+)"
# As `datepattern` of the filter.
_DATES: Final = (r"^(?:\S+ \S+: )?\d{4}-\d\d-\d\dT[\d:.]+Z", r'"time":"\d{4}-\d\d-\d\dT[\d:.]+Z"')


def banned(line: str) -> str:
    """Return the address that fail2ban bans for a line, "" for none. It cuts the time out of a line first."""
    parser = configparser.ConfigParser()
    parser.read(FILTER, encoding="utf-8")
    date = next((date for date in _DATES if re.search(date, line)), None)
    if date is None:
        return ""
    line = re.sub(date, "", line, count=1)
    for expression in parser["Definition"]["failregex"].split("\n"):
        if found := re.search(expression.strip().replace("<HOST>", _ADDRESS), line):
            return found["host"]
    return ""
