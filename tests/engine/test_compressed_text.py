"""The column type of bodies: compressed if they are long, readable whichever version wrote them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard

from tidings.engine.columns import CompressedText

BODY = "<p>Rain fell on the valley.</p>" * 100
# As earlier versions stored it, with the zstd module of Python.
STORED = b"\1" + bytes.fromhex(
    "28b52ffd601c0b3d0100f83c703e5261696e2066656c6c206f6e207468652076616c6c65792e3c2f703e0100eb4ff8ca09"
)


def stored(text: str) -> bytes:
    found = CompressedText().process_bind_param(text, None)
    assert found is not None
    return found


def read(column: bytes) -> str | None:
    return CompressedText().process_result_value(column, None)


@pytest.mark.parametrize("text", ["", "short", "雨" * 300, BODY, "雨 " * 100_000], ids=len)
def test_a_text_comes_back_as_it_was_stored(text: str) -> None:
    assert read(stored(text)) == text


def test_a_long_text_is_compressed() -> None:
    assert len(stored(BODY)) < 100


def test_bodies_of_earlier_versions_can_be_read() -> None:
    assert read(STORED) == BODY


@pytest.mark.parametrize("damaged", [STORED[:-5], STORED + b"x", STORED[:3] + b"\0" + STORED[4:]])
def test_a_damaged_body_is_an_error(damaged: bytes) -> None:
    with pytest.raises(zstandard.ZstdError):
        read(damaged)


def test_threads_read_and_store_at_the_same_time() -> None:
    texts = [f"{number} {BODY}" for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda text: read(stored(text)), texts)) == texts
