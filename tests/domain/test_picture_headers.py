"""The size of a picture, and what decoding it would take, are read without decoding it."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from support.hostile_pictures import picture, progressive_jpeg
from support.scaling import assert_linear
from tidings.content.pictures.headers import MAX_SCANS, PictureHeader, read_header


@pytest.mark.parametrize(
    "content",
    [
        picture("JPEG", 317, 211),
        picture("JPEG", 317, 211, progressive=True),
        picture("PNG", 317, 211),
        picture("GIF", 317, 211),
        picture("WEBP", 317, 211),
        picture("WEBP", 317, 211, lossless=True),
        picture("WEBP", 317, 211, exif=b"Exif\0\0II*\0\x08\0\0\0\0\0"),
    ],
)
def test_the_size_of_every_usual_format_is_read(content: bytes) -> None:
    assert read_header(content) == PictureHeader(317, 211)


def test_the_scans_of_a_jpeg_are_counted() -> None:
    usual = progressive_jpeg(100, 50)
    own = usual.count(b"\xff\xda")

    assert read_header(progressive_jpeg(100, 50, scans=MAX_SCANS - own)) == PictureHeader(100, 50, is_cheap=True)
    assert read_header(progressive_jpeg(100, 50, scans=MAX_SCANS - own + 1)) == PictureHeader(100, 50, is_cheap=False)


def test_scans_of_a_thumbnail_within_a_jpeg_are_not_counted() -> None:
    photo = picture("JPEG", 100, 50)
    within = b"\xff\xda\x00\x02" * MAX_SCANS
    thumbnail = b"\xff\xe1" + (2 + len(within)).to_bytes(2) + within

    assert read_header(photo[:2] + thumbnail + photo[2:]) == PictureHeader(100, 50, is_cheap=True)


@pytest.mark.parametrize(("is_progressive", "is_cheap"), [(True, False), (False, True)])
def test_only_a_jpeg_with_several_scans_is_held_in_memory(*, is_progressive: bool, is_cheap: bool) -> None:
    content = bytearray(picture("JPEG", 8, 8, progressive=is_progressive))
    frame = content.index(b"\xff\xc2" if is_progressive else b"\xff\xc0")
    content[frame + 5 : frame + 9] = (20_000).to_bytes(2) * 2

    assert read_header(bytes(content)) == PictureHeader(20_000, 20_000, is_cheap)


@pytest.mark.parametrize(
    "piece", [b"\xff", b"\xff\0", b"\xff\xff\0", b"\xff" * 999 + b"\0", b"\xff\xfe\0\2", b"\xff\xda\0\2", b"x"]
)
def test_a_hostile_jpeg_is_read_in_linear_time(piece: bytes) -> None:
    start = picture("JPEG", 8, 8)[:-2]

    assert_linear(lambda size: read_header(start + piece * (size // len(piece))), 100_000)


@given(st.sampled_from([b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"RIFF1234WEBPVP8X"]), st.binary())
def test_any_bytes_have_a_header_or_none(start: bytes, rest: bytes) -> None:
    header = read_header(start + rest)

    assert header is None or min(header.width, header.height) >= 0


def test_a_cut_picture_has_the_header_that_pillow_sees() -> None:
    cut = picture("JPEG", 3000, 3000)[:700]

    assert read_header(cut) == PictureHeader(*Image.open(BytesIO(cut)).size)
