"""Entries of a large import are cleaned in a child process, in the order of the archive, whatever happens to it."""

from __future__ import annotations

import os
import signal
from datetime import UTC, datetime

import msgspec
import pytest

from tidings.archives.entry_cleaner import BATCH, ArchivedBatch, EntryCleaner, entry_batches
from tidings.archives.records import ArchivedEntry
from tidings.content.cleaning import CleaningPolicy

_MOMENT = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)


def _entry(number: int, content: str = "<p>Rain<script>alert(1)</script></p>") -> ArchivedEntry:
    return ArchivedEntry(
        feed=1, hash=f"{number:064x}", published_at=_MOMENT, title=f"Entry {number}", tags=["a"], content=content
    )


def _batches(count: int) -> list[ArchivedBatch]:
    return [ArchivedBatch([_entry(number)], [_entry(number + count)]) for number in range(count)]


def _cleaned(batches: list[ArchivedBatch]) -> list[ArchivedBatch]:
    return [
        ArchivedBatch(known, [msgspec.structs.replace(entry, content="<p>Rain</p>") for entry in new])
        for known, new in batches
    ]


@pytest.mark.slow
def test_a_process_cleans_new_entries_and_changes_nothing_else() -> None:
    with EntryCleaner(CleaningPolicy(), in_process=True) as cleaner:
        assert list(cleaner.each(_batches(5))) == _cleaned(_batches(5))
        assert len(cleaner.processes) == 1


@pytest.mark.slow
def test_the_policy_reaches_the_process() -> None:
    link = '<a href="https://example.org/">Rain</a>'
    found = {}
    for new_tab in (True, False):
        with EntryCleaner(CleaningPolicy(new_tab=new_tab), in_process=True) as cleaner:
            ((_, (entry,)),) = cleaner.each([ArchivedBatch([], [_entry(1, link)])])
            found[new_tab] = 'target="_blank"' in entry.content
    assert found == {True: True, False: False}


@pytest.mark.slow
def test_a_process_that_is_killed_loses_no_entry() -> None:
    with EntryCleaner(CleaningPolicy(), in_process=True) as cleaner:
        each = cleaner.each(_batches(8))
        found = [next(each)]
        for process in cleaner.processes:
            os.kill(process, signal.SIGKILL)
        assert found + list(each) == _cleaned(_batches(8))


def test_few_entries_start_no_process() -> None:
    with EntryCleaner(CleaningPolicy(), in_process=False) as cleaner:
        assert list(cleaner.each(_batches(2))) == _cleaned(_batches(2))
        assert cleaner.processes == []


def test_batches_are_small_when_entries_are_large() -> None:
    small = [_entry(number) for number in range(2 * BATCH + 1)]
    large = [_entry(number, "x" * 5_000_000) for number in range(3)]

    assert [len(batch) for batch in entry_batches(small)] == [BATCH, BATCH, 1]
    assert [len(batch) for batch in entry_batches(large)] == [2, 1]
