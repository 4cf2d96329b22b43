"""Scales pictures from outside in a child process, with limits on time and memory.

picture ─► small or too demanding? ─► `services.worker_pool` ─► `tidings.runtime.picture_process` ─► scaled picture
                                           └─► killed at the timeout, or ended by the system at its limits
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import msgspec
import structlog
from msgspec import Struct

from tidings.content import icons
from tidings.content.icons import IconImage
from tidings.content.icons.svg import sanitize_svg
from tidings.content.pictures.decoding import DecodingRequest, DecodingResult, Purpose
from tidings.content.pictures.formats import SVG, Picture
from tidings.content.pictures.headers import read_header
from tidings.content.pictures.scaling import SCALED_TYPE, PictureSize
from tidings.services.worker_pool import WorkerDied, WorkerPool

log = structlog.get_logger()

_decoder = msgspec.msgpack.Decoder(DecodingResult)


class DecodingLimits(Struct, frozen=True, kw_only=True):
    """What the process that decodes pictures may use."""

    cpu_s: int = 6
    """Whole seconds of processor time for a picture."""
    wall_s: float = 30
    """The timeout, longer for a busy machine."""
    memory: int = 512 * 2**20
    """Bytes of address space of the process."""
    pictures: int = 200
    """The process is replaced after this many pictures."""
    idle_s: float = 30
    """The process ends after this time without a picture."""


class PictureDecoder:
    """A decoded picture is large, so one is decoded at a time."""

    def __init__(self, limits: DecodingLimits = DecodingLimits()) -> None:  # noqa: B008 - immutable
        self._limits = limits
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._pool = WorkerPool(
            "tidings.runtime.picture_process",
            [str(limits.cpu_s), str(limits.memory)],
            idle_s=limits.idle_s,
            max_requests=limits.pictures,
        )
        self._closed = False

    async def scale_down(self, picture: Picture, size: PictureSize) -> Picture:
        """Returns the picture as WebP within a size.

        Returns the same picture if it is small enough already or would lose its animation, and if it cannot be decoded
        within the limits: browsers may show what we do not decode.
        """
        if picture.mime_type == SVG or await asyncio.to_thread(_fits, picture, size):
            return picture
        scaled = await self._decode(Purpose(size), picture.content)
        return Picture(SCALED_TYPE, scaled) if scaled else picture

    async def read_icon(self, body: bytes) -> IconImage | None:
        """Returns the icon; None if the bytes are not a usable image, or one that exceeds the limits."""
        if drawing := await asyncio.to_thread(sanitize_svg, body):
            return IconImage(icons.SVG, drawing)
        png = await self._decode(Purpose.ICON, body)
        return IconImage(icons.PNG, png) if png else None

    @property
    def processes(self) -> list[int]:
        """Process ids of the running child processes."""
        return self._pool.pids

    def close(self) -> None:
        """End the process, a busy one too. Repeating it does nothing."""
        self._closed = True
        self._pool.close()
        self._threads.shutdown(cancel_futures=True)

    async def _decode(self, purpose: Purpose, content: bytes) -> bytes | None:
        request = DecodingRequest(purpose, content)
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._decode_now, request)

    def _decode_now(self, request: DecodingRequest) -> bytes | None:
        try:
            response = self._pool.request(msgspec.msgpack.encode(request), timeout_s=self._limits.wall_s)
        except WorkerDied as error:
            if not self._closed:
                log.warning("picture too demanding", size=len(request.content), reason=str(error))
            return None
        return _decoder.decode(response).content


def _fits(picture: Picture, size: PictureSize) -> bool:
    """Returns whether the picture can stay as it is: it is small enough, or decoding it would take too much."""
    header = read_header(picture.content)
    return header is not None and (max(header.width, header.height) <= size or not header.is_cheap)
