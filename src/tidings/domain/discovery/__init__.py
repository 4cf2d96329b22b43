"""Where the feeds of a web page may be. Nothing here fetches: these are guesses, and what they are worth.

declared   link elements of the page: its word is taken
shaped     addresses on well-known sites: tried
anchored   links on the page that look like feeds: tried
places     where feeds lie on most sites: tried, when nothing else was found
"""

from tidings.domain.discovery.candidates import Candidate, anchored, declared, places
from tidings.domain.discovery.sites import shaped

__all__ = ["Candidate", "anchored", "declared", "places", "shaped"]
