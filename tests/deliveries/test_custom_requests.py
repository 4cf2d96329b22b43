"""Requests that users write themselves."""

from __future__ import annotations

from typing import Any

import pytest

from support.provider_fixtures import TITLE, URL, hand_over, saved
from support.publisher import Publisher
from tidings.base.errors import InvalidInput
from tidings.deliveries import placeholders

NASTY = 'He said: "50% \\ off"\nX-Evil: 1 & <b>é</b>'


def test_the_default_is_a_post_of_json(site: Publisher) -> None:
    site.serve("/add", status=204)

    outcome, (request,) = hand_over(site, "custom", {"url": site.url("/add")}, saved())

    assert outcome.is_delivered
    assert (request.method, request.headers["content-type"]) == ("POST", "application/json")
    assert request.body == {"url": URL, "title": TITLE}


def test_placeholders_are_escaped_for_their_place(site: Publisher) -> None:
    site.serve("/add")
    settings = {
        "method": "PUT",
        "url": site.url("/add?title={{title}}&u={{ url }}"),
        "headers": "Authorization: Bearer s3cret\nX-Title: {{title}}",
        "body": '{"t": "{{title}}", "tags": {{tags|json}}, "list": "{{tags}}", "who": {{author | json}}}',
    }

    outcome, (request,) = hand_over(site, "custom", settings, saved(title=NASTY))

    assert outcome.is_delivered
    assert request.method == "PUT"
    assert request.query == {"title": NASTY, "u": URL}
    assert request.body == {"t": NASTY, "tags": ["rain", "sky"], "list": "rain, sky", "who": "Ada"}
    assert request.headers["authorization"] == "Bearer s3cret"
    assert "x-evil" not in request.headers
    assert "\n" not in request.headers["x-title"]


@pytest.mark.parametrize(
    ("kind", "body", "expected_body"),
    [
        ("application/x-www-form-urlencoded", "t={{title}}&u={{url}}", {"t": NASTY, "u": URL}),
        (
            "text/xml",
            "<t>{{title}}</t>",
            "<t>He said: &quot;50% \\ off&quot;\nX-Evil: 1 &amp; &lt;b&gt;é&lt;/b&gt;</t>",
        ),
        (
            "text/plain",
            "{{title}} / {{feed_title}} / {{site_url}}",
            f"{NASTY} / Weather notes / https://weather.example/",
        ),
        ("text/plain", "{{title|url}}", placeholders.FILTERS["url"](NASTY)),
        ("application/json", '{"raw": {{id|raw}}}', {"raw": 1}),
    ],
)
def test_bodies_of_other_kinds(kind: str, body: str, expected_body: Any, site: Publisher) -> None:
    site.serve("/add")
    settings = {"url": site.url("/add"), "headers": f"Content-Type: {kind}", "body": body}

    _, (request,) = hand_over(site, "custom", settings, saved(title=NASTY))

    assert request.body == expected_body


def test_a_get_has_no_body(site: Publisher) -> None:
    site.serve("/add")

    _, (request,) = hand_over(site, "custom", {"method": "GET", "url": site.url("/add?u={{url}}")}, saved())

    assert (request.method, request.query, request.body) == ("GET", {"u": URL}, "")
    assert "content-type" not in request.headers


def test_a_refusal_is_reported(site: Publisher) -> None:
    site.serve("/add", "s3cret?", status=403)
    settings = {"url": site.url("/add"), "headers": "X-Key: s3cret"}

    outcome, _ = hand_over(site, "custom", settings, saved())

    assert "403" in outcome.error_text
    assert "s3cret" not in outcome.response


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("{{titel}}", "'titel'. Did you mean title"),
        ("{{title|jsno}}", "no filter 'jsno'. Did you mean json"),
        ("{{nonsense}}", "Available: id, url, title"),
        ("{{}}", "no placeholder ''"),
        ("{{title|}}", "no filter ''"),
        ("{{title", "does not end with }}"),
        ("{{a{{title}}", "does not end with }}"),
    ],
)
def test_an_invalid_template_is_refused(template: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=r"^body: ") as refused:
        placeholders.check_template(f"before {template} after", field="body")

    assert says in refused.value.message


@pytest.mark.parametrize("template", ["", "no placeholder", "{title}", '{"a": {"b": {}}}', "{{ title | json }}{{url}}"])
def test_other_braces_are_unchanged(template: str) -> None:
    placeholders.check_template(template, field="body")

    assert placeholders.sample_render(template).count("{") == template.replace("{{", "").count("{")
