"""Pictures are scaled down to what a page shows, and look the same."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageCms

from tidings.content.pictures.formats import Picture
from tidings.content.pictures.scaling import PictureSize, scale_down

ORIENTATION = 0x0112
RED, BLUE = (220, 30, 30), (30, 30, 220)


def drawn(width: int, height: int, mode: str = "RGB", colour: object = RED) -> Image.Image:
    return Image.new(mode, (width, height), colour)  # type: ignore[arg-type]


def written(image: Image.Image, kind: str, **how: object) -> Picture:
    out = BytesIO()
    image.save(out, kind, **how)
    return Picture(f"image/{kind.lower()}", out.getvalue())


def opened(picture: Picture) -> Image.Image:
    image = Image.open(BytesIO(picture.content))
    image.load()
    return image


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "BMP"])
@pytest.mark.parametrize(("size", "expected"), [(PictureSize.ARTICLE, (2048, 1024)), (PictureSize.ROW, (336, 168))])
def test_a_large_picture_is_scaled_and_keeps_its_aspect_ratio(
    kind: str, size: PictureSize, expected: tuple[int, int]
) -> None:
    original = written(drawn(3000, 1500), kind)

    scaled = scale_down(original, size)

    assert scaled.mime_type == "image/webp"
    assert len(scaled.content) < len(original.content)
    assert opened(scaled).size == expected


def test_a_photo_stands_upright() -> None:
    photo = drawn(3000, 1000)
    photo.paste(BLUE, (0, 0, 1500, 1000))
    exif = Image.Exif()
    exif[ORIENTATION] = 6  # the camera was held upright: turned clockwise by a quarter when it is shown

    scaled = opened(scale_down(written(photo, "JPEG", exif=exif), PictureSize.ARTICLE))

    assert scaled.width < scaled.height == 2048
    top, bottom = scaled.getpixel((300, 100)), scaled.getpixel((300, 1900))
    assert isinstance(top, tuple)
    assert isinstance(bottom, tuple)
    assert top[2] > 150 > bottom[2]
    assert not scaled.getexif()


@pytest.mark.slow
def test_transparency_and_colour_profile_stay() -> None:
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    original = written(drawn(3000, 3000, "RGBA", (220, 30, 30, 100)), "PNG", icc_profile=profile, compress_level=0)

    scaled = opened(scale_down(original, PictureSize.ARTICLE))

    assert scaled.getchannel("A").getextrema() == (100, 100)
    assert scaled.info["icc_profile"] == profile


@pytest.mark.slow
def test_what_would_lose_something_stays_as_it_is() -> None:
    frames = {"save_all": True, "append_images": [drawn(2100, 10, colour=BLUE)]}
    kept = [
        written(drawn(2048, 2048), "PNG"),
        written(drawn(2100, 10), "GIF", **frames),
        written(drawn(2100, 2100, "CMYK", 0), "JPEG"),
        written(drawn(2100, 2100, "I;16", 900), "PNG"),
        # Scaled, it would have more bytes.
        written(drawn(2100, 1), "PNG"),
        Picture("image/svg+xml", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        Picture("image/png", b"\x89PNG\r\n\x1a\n and so on"),
        Picture("image/jpeg", written(drawn(3000, 3000), "JPEG").content[:400]),
    ]

    assert [scale_down(picture, PictureSize.ARTICLE) for picture in kept] == kept
    # A row shows the first frame.
    assert opened(scale_down(written(drawn(2100, 1000), "GIF", **frames), PictureSize.ROW)).size == (336, 160)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_picture_that_would_fill_the_memory_is_not_decoded() -> None:
    bomb = written(Image.new("1", (9000, 9000)), "PNG")

    assert scale_down(bomb, PictureSize.ROW) is bomb
