"""Query parameters that only tell somebody where a reader came from."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, unquote_plus

from tidings.domain.cleaning.words import words

PREFIXES = ("utm_", "mtm_")

NAMES = words("""
    fbclid fb_action_ids fb_action_types fb_ref fb_source fb_comment_id
    hmb_campaign hmb_medium hmb_source itm_campaign itm_medium itm_source
    gclid dclid gbraid wbraid gclsrc srsltid
    campaign_id campaign_medium campaign_name campaign_source campaign_term campaign_content
    yclid ysclid _openstat twclid msclkid mc_cid mc_eid mc_tc wickedid
    hsa_cam _hsenc __hssc __hstc __hsfp _hsmi hsctatracking
    rb_clickid oly_anon_id oly_enc_id vero_id vero_conv mkt_tok sc_cid
    _bhlid _branch_match_id _branch_referrer
""")

# Characters. No need to remember longer names for the next address.
_LONGEST_REMEMBERED: Final = 60


def strip_tracking(url: str, *, hosts: Collection[str] = ()) -> str:
    """The address without its tracking parameters; the rest stays as it is, byte for byte and in order.

    hosts: of the feed and its site, in lower case; `ref` goes when one of its values is among them.
    """
    address, mark, fragment = url.partition("#")
    path, asked, query = address.partition("?")
    if not asked:
        return url
    pairs, kept, has_ref = query.split("&"), [], False
    for pair in pairs:
        name = _name(pair)
        if name is not None:
            kept.append(pair)
            has_ref |= name == "ref"
    if has_ref and hosts and _refers(kept, hosts):
        kept = [pair for pair in kept if _name(pair) != "ref"]
    if len(kept) == len(pairs):
        return url
    return f"{path}?{'&'.join(kept)}{mark}{fragment}" if kept else f"{path}{mark}{fragment}"


def _name(pair: str) -> str | None:
    """As whoever is asked would read it, in lower case; None for one of those that track."""
    name = pair.partition("=")[0]
    return _read(name) if len(name) <= _LONGEST_REMEMBERED else _read.__wrapped__(name)


@lru_cache(maxsize=1_024)
def _read(name: str) -> str | None:
    """Kept because the same few names stand in most addresses."""
    name = name.lower()
    if "%" in name:
        name = unquote(name).lower()
    # Feeds that escape twice leave `?a=1&amp;utm_source=x` in the address.
    name = name.removeprefix("amp;")
    return None if name in NAMES or name.startswith(PREFIXES) else name


def _refers(pairs: list[str], hosts: Collection[str]) -> bool:
    values = (pair.partition("=")[2] for pair in pairs if _name(pair) == "ref")
    return any(unquote_plus(value).lower() in hosts for value in values)
