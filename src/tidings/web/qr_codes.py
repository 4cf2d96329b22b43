"""QR codes for pages."""

from __future__ import annotations

from markupsafe import Markup

# ISO/IEC 18004 wants a margin of four modules; without it, scanners fail on a dark page.
_QUIET_ZONE = 4


def qr_code(text: str) -> Markup:
    """Return a QR code as an inline SVG: black on white with a white margin, whatever the theme of the page.

    It has presentation attributes instead of styles, which the content policy would block.
    """
    import segno  # only when a code is drawn, for the sake of memory

    drawing = segno.make_qr(text, error="m").svg_inline(
        border=_QUIET_ZONE, dark="#000", light="#fff", omitsize=True, svgclass=None, lineclass=None
    )
    return Markup(drawing)  # noqa: S704 - numbers and commands of a path only
