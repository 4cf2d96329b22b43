"""The child process that decodes pictures: one made for it can exhaust the time or memory of this process only.

`services.pictures` sends the pictures.
"""

from __future__ import annotations

from tidings.content.pictures.decoding import DecodingRequest, decode
from tidings.runtime.limited_process import answer_requests


def main() -> None:
    """Answer requests, with the limits of the command line."""
    answer_requests(DecodingRequest, decode)


if __name__ == "__main__":
    main()
