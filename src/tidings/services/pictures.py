"""Scales pictures from outside in a child process, with limits on time and memory.

picture ─► small or too demanding? ─► `services.worker_pool` ─► `tidings.runtime.picture_process` ─► scaled picture
                                           └─► killed at the timeout, or ended by the system at its limits
"""

from __future__ import annotations

import asyncio

import structlog

from tidings.content import icons
from tidings.content.icons import IconImage, sanitize_svg
from tidings.content.pictures.decoding import DecodingRequest, DecodingResult, Purpose
from tidings.content.pictures.formats import SVG, Picture
from tidings.content.pictures.headers import read_header
from tidings.content.pictures.scaling import SCALED_TYPE, PictureSize
from tidings.services.worker_pool import LimitedWorkers, ProcessLimits, WorkerDied

log = structlog.get_logger()


LIMITS = ProcessLimits(cpu_s=6, idle_s=30)


class PictureDecoder:
    """A decoded picture is large, so one is decoded at a time."""

    def __init__(self, limits: ProcessLimits = LIMITS) -> None:
        self._workers = LimitedWorkers("tidings.runtime.picture_process", limits, max_concurrent=1)

    async def scale_down(self, picture: Picture, size: PictureSize) -> Picture:
        """Return the picture as WebP within a size.

        Returns the same picture if it is small enough already or would lose its animation, and if it cannot be decoded
        within the limits: browsers may show what we do not decode.
        """
        if picture.mime_type == SVG or await asyncio.to_thread(_fits, picture, size):
            return picture
        scaled = await self._decode(Purpose(size), picture.content)
        return Picture(SCALED_TYPE, scaled) if scaled else picture

    async def read_icon(self, body: bytes) -> IconImage | None:
        """Return the icon; None if the bytes are not a usable image, or one that exceeds the limits."""
        if drawing := await asyncio.to_thread(sanitize_svg, body):
            return IconImage(icons.SVG, drawing)
        png = await self._decode(Purpose.ICON, body)
        return IconImage(icons.PNG, png) if png else None

    @property
    def processes(self) -> list[int]:
        """Process ids of the running child processes."""
        return self._workers.pids

    def close(self) -> None:
        """End the process, a busy one too. Repeating it does nothing."""
        self._workers.close()

    async def _decode(self, purpose: Purpose, content: bytes) -> bytes | None:
        request = DecodingRequest(purpose, content)
        try:
            result = await self._workers.request(request, DecodingResult, keeps_worker=lambda _result: True)
        except WorkerDied as error:
            if not self._workers.is_closed:
                log.warning("picture too demanding", size=len(content), reason=str(error))
            return None
        return result.content


def _fits(picture: Picture, size: PictureSize) -> bool:
    """Return whether the picture can stay as it is: it is small enough, or decoding it would take too much."""
    header = read_header(picture.content)
    return header is not None and (max(header.width, header.height) <= size or not header.is_cheap)
