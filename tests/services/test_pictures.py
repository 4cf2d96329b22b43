"""Hostile pictures: they end the process that decodes them, and nothing else."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from io import BytesIO

import pytest
from PIL import Image

from support.hostile_pictures import picture, progressive_jpeg
from tidings.content.pictures.formats import Picture
from tidings.content.pictures.scaling import PictureSize
from tidings.services.pictures import PictureDecoder
from tidings.services.worker_pool import ProcessLimits

pytestmark = pytest.mark.slow


@cache
def photo() -> Picture:
    return Picture("image/png", picture("PNG", 3000, 1500))


@cache
def slow_picture() -> Picture:
    """A picture that takes a while: PNG filters and a large side, decoded and encoded completely."""
    return Picture("image/png", picture("PNG", 4090, 4090))


@pytest.fixture
def pool() -> Iterator[Callable[..., PictureDecoder]]:
    created: list[PictureDecoder] = []

    def make(**limits: float) -> PictureDecoder:
        chosen = ProcessLimits(**{"cpu_s": 6, "wall_s": 300, "idle_s": 300} | limits)  # type: ignore[arg-type]
        created.append(PictureDecoder(chosen))
        return created[-1]

    yield make
    for decoder in created:
        decoder.close()
        assert decoder.processes == []


def scaled(decoder: PictureDecoder, original: Picture, size: PictureSize = PictureSize.ARTICLE) -> Picture:
    return asyncio.run(decoder.scale_down(original, size))


def works(decoder: PictureDecoder) -> bool:
    return Image.open(BytesIO(scaled(decoder, photo()).content)).size == (2048, 1024)


def test_a_large_picture_is_scaled_in_a_process_that_is_used_again(pool: Callable[..., PictureDecoder]) -> None:
    decoder = pool()
    assert decoder.processes == []

    assert works(decoder)
    first = decoder.processes
    assert works(decoder)

    assert len(first) == 1
    assert decoder.processes == first


def test_an_icon_becomes_a_small_png(pool: Callable[..., PictureDecoder]) -> None:
    icon = asyncio.run(pool().read_icon(picture("JPEG", 400, 100)))

    assert icon is not None
    assert icon.mime_type == "image/png"
    assert Image.open(BytesIO(icon.content)).size == (64, 16)
    assert asyncio.run(pool().read_icon(b"<html>")) is None


@pytest.mark.parametrize(
    "original",
    [
        Picture("image/jpeg", picture("JPEG", 2048, 2048)),
        Picture("image/jpeg", progressive_jpeg(2049, 20, scans=6_000)),
        Picture("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    ],
)
def test_what_stays_as_it_is_starts_no_process(pool: Callable[..., PictureDecoder], original: Picture) -> None:
    decoder = pool()

    assert scaled(decoder, original) is original
    assert decoder.processes == []


def test_a_drawing_as_icon_starts_no_process(pool: Callable[..., PictureDecoder]) -> None:
    decoder = pool()

    icon = asyncio.run(decoder.read_icon(b"<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0h8v8z'/></svg>"))

    assert icon is not None
    assert icon.mime_type == "image/svg+xml"
    assert decoder.processes == []


@pytest.mark.slow
def test_a_picture_made_for_the_memory_costs_neither_memory_nor_time(pool: Callable[..., PictureDecoder]) -> None:
    bomb, scans = progressive_jpeg(9_000, 9_000), progressive_jpeg(2_500, 2_500, scans=6_000)
    decoder, before = pool(), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert scaled(decoder, Picture("image/jpeg", bomb)).content is bomb
    assert scaled(decoder, Picture("image/jpeg", scans)).content is scans
    assert asyncio.run(decoder.read_icon(bomb)) is None
    assert asyncio.run(decoder.read_icon(scans)) is None

    decoder.close()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_kb < 64 * 1024
    assert after.ru_utime - before.ru_utime < 3


def test_a_picture_that_takes_too_much_memory_is_given_up(pool: Callable[..., PictureDecoder]) -> None:
    decoder = pool(memory_bytes=120 * 2**20)

    assert scaled(decoder, slow_picture()) is slow_picture()
    assert works(decoder)


def test_a_picture_that_takes_too_long_is_given_up_and_the_process_replaced(
    pool: Callable[..., PictureDecoder],
) -> None:
    decoder = pool(wall_s=0.01)

    assert scaled(decoder, photo()) is photo()
    assert decoder.processes == []
    assert works(pool())


def test_a_process_that_was_killed_is_replaced(pool: Callable[..., PictureDecoder]) -> None:
    decoder = pool()
    assert works(decoder)
    first = decoder.processes
    os.kill(first[0], signal.SIGKILL)
    os.waitid(os.P_PID, first[0], os.WEXITED | os.WNOWAIT)

    assert works(decoder)
    assert decoder.processes != first


def test_the_system_ends_a_process_at_its_processor_time() -> None:
    code = (
        "import sys; from tidings.runtime import picture_process as p; from tidings.content.pictures import decoding\n"
        "p.decode = lambda request: next(n for n in iter(int, 1) if n)\n"
        "sys.argv[1:] = ['1', str(2**30)]; p.main()"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with process:
        process.communicate(b"\0\0\0\6\x92\x01\xc4\2ab", timeout=60)

    assert process.returncode == -signal.SIGPROF


def test_a_process_ends_when_its_pipe_is_closed() -> None:
    command = [sys.executable, "-m", "tidings.runtime.picture_process", "10", str(2**30)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.close()

        assert process.wait(60) == 0


def test_the_web_process_does_not_import_pillow() -> None:
    code = "import sys, tidings.wiring; print(*{'PIL'} & set(sys.modules))"

    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert finished.stdout.strip() == ""
