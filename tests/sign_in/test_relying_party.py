"""Under which addresses browsers offer passkeys, and what the page says elsewhere."""

from __future__ import annotations

import pytest

from tidings.sign_in.passkeys.relying_party import relying_party


@pytest.mark.parametrize(
    ("base_url", "id_", "origin"),
    [
        ("https://Reader.example.org", "reader.example.org", "https://reader.example.org"),
        ("https://example.org:443/reader", "example.org", "https://example.org"),
        ("https://example.org:8443/reader", "example.org", "https://example.org:8443"),
        ("http://localhost:8080", "localhost", "http://localhost:8080"),
        ("http://localhost:80", "localhost", "http://localhost"),
        ("http://reader.localhost:8080", "reader.localhost", "http://reader.localhost:8080"),
    ],
)
def test_passkeys_belong_to_the_host_of_the_address(base_url: str, id_: str, origin: str) -> None:
    found = relying_party(base_url)

    assert (found.id, found.origin, found.problem) == (id_, origin, None)


@pytest.mark.parametrize(
    ("base_url", "said"),
    [
        ("http://reader.lan:8080", "https://reader.lan"),
        ("http://notlocalhost", "https://notlocalhost"),
        ("http://127.0.0.1:8080", "http://localhost:8080"),
        ("https://192.0.2.7", "192.0.2.7 is an address"),
        ("http://[::1]:8080/reader", "http://localhost:8080"),
    ],
)
def test_elsewhere_the_page_says_why_not_and_what_to_do(base_url: str, said: str) -> None:
    problem = relying_party(base_url).problem

    assert problem
    assert said in problem.english()
