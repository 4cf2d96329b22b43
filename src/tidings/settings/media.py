"""Settings of the media proxy; `options.Settings` inherits them."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.media.policy import MediaKind, MediaProxyMode
from tidings.settings import values
from tidings.settings.maintenance import MaintenanceSettings
from tidings.settings.option import option
from tidings.settings.values import ByteCount


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaSettings(MaintenanceSettings):
    media_proxy_mode: MediaProxyMode = option(
        values.enum_value(MediaProxyMode),
        "Which pictures of articles this service fetches for readers, so that publishers do not learn the readers'"
        " addresses: none; http-only for http pictures when TIDINGS_BASE_URL is https, which browsers refuse to load;"
        " all. Unless it is none, users may choose all for themselves.",
        allowed="none, http-only or all",
        default="http-only",
    )
    media_proxy_resource_types: frozenset[MediaKind] = option(
        values.enum_values(MediaKind),
        "What this service fetches for readers. Sounds and films pass through it while they play, and are not kept:"
        " mind the traffic.",
        allowed="image, audio and video, separated by commas",
        default="image",
    )
    media_proxy_cache_size: ByteCount = option(
        values.mebibytes(0, 1_048_576),
        "Largest size in MiB of the folder `media` in TIDINGS_DATA_DIR, which keeps these pictures; 0 keeps none.",
        allowed="a whole number from 0 to 1048576",
        default="256",
    )
