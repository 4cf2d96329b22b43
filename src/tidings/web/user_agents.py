"""Which browser it was, out of what it calls itself: enough for its owner to know it again."""

from __future__ import annotations

from tidings.web.language import _

# The first that fits: most browsers also claim to be others, whose names come later.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi", "Vivaldi"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def named(user_agent: str) -> str:
    """Firefox, Linux. What is not known is told as it calls itself."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if browser:
        return _("%(browser)s, %(system)s", browser=browser, system=system) if system else browser
    return user_agent[:60] or _("An unnamed browser")
