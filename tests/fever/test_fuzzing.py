"""Random requests to the Fever API: none ends in an error of the server."""

from __future__ import annotations

from urllib.parse import quote_from_bytes, urlencode

import hypothesis
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

from clients.library import Library
from fever.apps import FORM, FeverApp
from support.people import call
from support.random_examples import examples

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

NAMES = (
    "api", "api_key", "items", "since_id", "max_id", "with_ids", "feed_ids", "group_ids", "groups", "feeds", "favicons",
    "links", "unread_item_ids", "saved_item_ids", "mark", "as", "id", "before", "unread_recently_read", "refresh",
)  # fmt: skip
WORDS = ("", "0", "-1", "1", "read", "unread", "saved", "unsaved", "item", "feed", "group", "xml", "1,2,3", " 5 , 6",
         "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "1e400", "9" * 5000,
         "1.5", "\u0661", "NaN")  # fmt: skip
PAIRS = st.lists(
    st.tuples(st.sampled_from(NAMES) | st.text(max_size=8), st.sampled_from(WORDS) | st.text(max_size=20)), max_size=8
)


@hypothesis.settings(
    max_examples=examples(62),
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@hypothesis.given(form=PAIRS, query=PAIRS, raw=st.binary(max_size=40), kind=st.sampled_from(("form", "query", "raw")))
def test_no_request_causes_a_server_error(
    app: FeverApp,
    library: Library,
    form: list[tuple[str, str]],
    query: list[tuple[str, str]],
    raw: bytes,
    kind: str,
) -> None:
    url = app.person.service.url
    key = [("api_key", app.key)]
    clean = [(encoded(name), encoded(value)) for name, value in query if name != "api_key"]
    if kind == "query":
        answer = call(url, "GET", f"/fever/?api&{urlencode([*key, *clean])}")
    elif kind == "form":
        fields = [(encoded(name), encoded(value)) for name, value in form if name != "api_key"]
        body = urlencode([*key, *fields]).encode()
        answer = call(url, "POST", f"/fever/?api&{urlencode(clean)}", body, {"Content-Type": FORM})
    else:
        path = f"/api/fever.php?api&api_key={app.key}&{quote_from_bytes(raw, safe='=&%')}"
        answer = call(url, "POST", path, raw, {"Content-Type": FORM if library.entry % 2 else "text/plain"})

    assert answer.status in (200, 400), (answer, form, query, raw)
    if answer.status == 200:
        assert answer.json()["api_version"] == 3
    else:
        assert answer.json()["error_message"]
    assert "request failed" not in app.person.service.log[-4000:]


def encoded(text: str) -> bytes:
    """Also what is no UTF-8."""
    return text.encode("utf-8", "surrogatepass")
