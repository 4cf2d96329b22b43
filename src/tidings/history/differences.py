"""Compares two versions of an article by word.

clean HTML ─► words, each with the tags before it ─► what was removed and added ─► the new version with <del> and <ins>

Only words are marked: the tags are those of the new version, so that the result is as clean as it is. Words that were
removed stand behind the word that they followed, where text is allowed in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from msgspec import Struct

# Work and memory to spend on a comparison: about a tenth of a second. Versions with more differences are compared by
# their beginnings and ends alone.
MAX_STEPS: Final = 400_000
MAX_EDITS: Final = 500
# Fewer unchanged words between two longer changes belong to them: "of the" in a new sentence is a coincidence.
MIN_KEPT_WORDS: Final = 3

# Characters of scripts that write no blanks between words are words of their own.
_UNSPACED: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN: Final = re.compile(rf"<[^>]*>|\s+|&#?\w+;|[{_UNSPACED}]|[^\s<&{_UNSPACED}]+|&")
_NAME: Final = re.compile(r"</?([a-z0-9]+)")
# Text inside of these is not part of the article, or cannot hold marks.
_WHOLE: Final = frozenset({"svg", "math", "audio", "video", "iframe", "picture", "object"})
_LINE: Final = re.compile(
    r"</?(?:aside|blockquote|br|caption|d[dlt]|details|fig\w+|h[1-6]|hr|li|ol|p|pre|summary|t[dhr]|table|ul)\b"
)


class Change(Struct, frozen=True):
    """Words of the old version that words of the new one replace; either may be none."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


class _Words(Struct, frozen=True):
    """The words of HTML."""

    words: list[str]
    """As written, with character references."""
    leads: list[str]
    """Tags and blanks before each word, and behind the last one."""


def mark_differences(old: str, new: str) -> str:
    """Return the new version of an article with the words marked that the old one has not, and those that it had.

    Both are clean HTML, and so is the result.
    """
    before, after = _split(old), _split(new)
    return _write(before, after, compare(before.words, after.words))


def mark_text_differences(old: str, new: str) -> str:
    """Return HTML with the differences of two plain texts."""
    return mark_differences(escape(old), escape(new))


def compare(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """Return what changed between two lists of words, in their order.

    Source: Myers, An O(ND) Difference Algorithm and Its Variations (1986), with a bound on the work.
    """
    start = _common_start(old, new)
    end = _common_start(old[start:][::-1], new[start:][::-1])
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    if not middle_old and not middle_new:
        return []
    changes = _edits(middle_old, middle_new) if middle_old and middle_new else None
    if changes is None:
        changes = [Change(0, len(middle_old), 0, len(middle_new))]
    moved = [
        Change(one.old_start + start, one.old_end + start, one.new_start + start, one.new_end + start)
        for one in changes
    ]
    return _joined(moved)


def _split(html: str) -> _Words:
    words: list[str] = []
    leads: list[str] = []
    lead: list[str] = []
    depth = 0
    for token in _TOKEN.findall(html):
        if token[0] == "<" and (name := _NAME.match(token)) and name[1] in _WHOLE:
            depth = max(0, depth - 1) if token[1] == "/" else depth + 1
        if depth or token[0] == "<" or token.isspace():
            lead.append(token)
        else:
            words.append(token)
            leads.append("".join(lead))
            lead.clear()
    return _Words(words, [*leads, "".join(lead)])


def _common_start(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many words at the beginning are the same."""
    shortest = min(len(old), len(new))
    return next((index for index in range(shortest) if old[index] != new[index]), shortest)


def _edits(old: Sequence[str], new: Sequence[str]) -> list[Change] | None:
    """Return the fewest changes; None if finding them takes too long."""
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    steps = 0
    for edits in range(MAX_EDITS + 1):
        trace.append({k: furthest[k] for k in range(-edits - 1, edits + 2) if k in furthest})
        for k in range(-edits, edits + 1, 2):
            is_added = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if is_added else furthest[k - 1] + 1
            y = begin = x - k
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            steps += 1 + y - begin
            furthest[k] = x
            if x >= len(old) and y >= len(new):
                return list(_steps_back(trace, len(old), len(new)))[::-1]
        if steps > MAX_STEPS:
            break
    return None


def _steps_back(trace: Sequence[dict[int, int]], x: int, y: int) -> Iterator[Change]:
    """Yield single words that were removed or added, the last first."""
    for edits in range(len(trace) - 1, 0, -1):
        furthest, k = trace[edits], x - y
        is_added = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
        before = k + 1 if is_added else k - 1
        from_x, from_y = furthest[before], furthest[before] - before
        yield Change(from_x, from_x + (not is_added), from_y, from_y + is_added)
        x, y = from_x, from_y


def _joined(changes: Sequence[Change]) -> list[Change]:
    """Return the changes with those as one between which there are no words, or too few to matter."""
    joined: list[Change] = []
    for one in changes:
        last = joined[-1] if joined else None
        if last is not None and one.new_start - last.new_end < _kept_between(last, one):
            joined[-1] = Change(last.old_start, one.old_end, last.new_start, one.new_end)
        else:
            joined.append(one)
    # Changes grow by joining, so that the ones between them may be too few only now.
    return joined if len(joined) == len(changes) else _joined(joined)


def _kept_between(one: Change, other: Change) -> int:
    """Return how many unchanged words keep two changes apart."""
    return max(1, min(MIN_KEPT_WORDS, _size(one), _size(other)))


def _size(change: Change) -> int:
    return max(change.old_end - change.old_start, change.new_end - change.new_start)


def _write(old: _Words, new: _Words, changes: Sequence[Change]) -> str:
    out: list[str] = []
    done = 0
    for change in changes:
        out += _plain(new, done, change.new_start)
        removed = _removed(old, change) if change.old_end > change.old_start else ""
        if change.new_start:
            is_apart = bool(removed and old.leads[change.old_start])
            out.append(" " + removed if is_apart else removed)
            out += _added(new, change.new_start, change.new_end)
        elif new.words:
            # At the beginning: behind the tags of the first word.
            out += [new.leads[0], removed, " " if removed and old.leads[change.old_end] else ""]
            out += _added(new, 0, change.new_end, is_first=True)
            if not change.new_end:
                # The first word is unchanged, and its tags are written.
                out.append(new.words[0])
                done = 1
                continue
        else:
            out.append(f"<p>{removed}</p>")
        done = change.new_end
    out += _plain(new, done, len(new.words))
    out.append(new.leads[-1])
    return "".join(out)


def _plain(new: _Words, start: int, end: int) -> Iterator[str]:
    for index in range(start, end):
        yield new.leads[index]
        yield new.words[index]


def _removed(old: _Words, change: Change) -> str:
    """Return the removed words, without their tags but with the ends of their lines."""
    text = [old.words[change.old_start]]
    for index in range(change.old_start + 1, change.old_end):
        lead = old.leads[index]
        if _LINE.search(lead):
            text.append("</del><br><del>")
        elif lead:
            text.append(" ")
        text.append(old.words[index])
    return f"<del>{''.join(text)}</del>"


def _added(new: _Words, start: int, end: int, *, is_first: bool = False) -> Iterator[str]:
    """Yield the added words with their tags, which no mark crosses. is_first: the first one's tags are written."""
    is_open = False
    for index in range(start, end):
        lead = "" if is_first and index == start else new.leads[index]
        if is_open and "<" in lead:
            yield "</ins>"
            is_open = False
        if is_open:
            yield lead
        else:
            yield f"{lead}<ins>"
            is_open = True
        yield new.words[index]
    if is_open:
        yield "</ins>"
