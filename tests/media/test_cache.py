"""The folder of fetched pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidings.media.cache import CachedFile, MediaCache

KIB = 1024
LIMIT = 64 * KIB
HOUR = 3_600


def size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.iterdir())


def picture(number: int, content: bytes = b"x" * KIB) -> CachedFile:
    return CachedFile("image/png", content, fetched_at=number * HOUR)


def test_a_file_comes_back_as_it_was_stored_also_for_another_process(tmp_path: Path) -> None:
    file = picture(1, b"\n1\n\xff")
    MediaCache(tmp_path / "media", limit=LIMIT).put("http://example.org/1", file)

    cache = MediaCache(tmp_path / "media", limit=LIMIT)

    assert cache.get("http://example.org/1", now=HOUR) == file
    assert cache.get("http://example.org/2", now=HOUR) is None


@pytest.mark.slow
def test_the_folder_stays_within_its_limit_with_several_processes(tmp_path: Path) -> None:
    caches = [MediaCache(tmp_path / "media", limit=LIMIT) for _ in range(4)]

    for number in range(400):
        caches[number % 4].put(f"http://example.org/{number}", picture(number))
        assert size(tmp_path / "media") <= LIMIT

    assert caches[0].get("http://example.org/399", now=400 * HOUR)
    assert caches[0].get("http://example.org/0", now=400 * HOUR) is None


def test_what_was_used_last_is_kept(tmp_path: Path) -> None:
    cache = MediaCache(tmp_path / "media", limit=LIMIT)

    for number in range(200):
        cache.put(f"http://example.org/{number}", picture(number))
        assert cache.get("http://example.org/0", now=number * HOUR + 1)


def test_a_file_that_would_fill_the_folder_is_not_kept(tmp_path: Path) -> None:
    cache = MediaCache(tmp_path / "media", limit=LIMIT)

    cache.put("http://example.org/large", picture(1, b"x" * LIMIT))

    assert cache.get("http://example.org/large", now=HOUR) is None


def test_a_limit_of_zero_keeps_nothing(tmp_path: Path) -> None:
    cache = MediaCache(tmp_path / "media", limit=0)

    cache.put("http://example.org/1", picture(1))

    assert cache.get("http://example.org/1", now=HOUR) is None
    assert not (tmp_path / "media").exists()


@pytest.mark.parametrize("damaged", [b"", b"image/png\n", b"image/png then\nx", b"\xff 12\nx", b"x" * 500])
def test_a_damaged_file_counts_as_missing(tmp_path: Path, damaged: bytes) -> None:
    cache = MediaCache(tmp_path / "media", limit=LIMIT)
    cache.put("http://example.org/1", picture(1))
    next((tmp_path / "media").iterdir()).write_bytes(damaged)

    assert cache.get("http://example.org/1", now=HOUR) is None
