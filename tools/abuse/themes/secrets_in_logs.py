"""Searches the output of the service, at log level debug, for all its secrets."""

from __future__ import annotations

import base64
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote, urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, administrator, person
from abuse.service import PASSWORD, Service
from abuse.testbed import Testbed

SUCCEEDS_IF = "the log contains the secret: plain, percent-encoded, or in base64"


def run(testbed: Testbed) -> Iterator[Result]:
    proxy_secret, metrics_secret = _secret(), _secret()
    service = testbed.service(
        fetcher_allow_private_networks="1",
        integration_allow_private_networks="1",
        http_client_proxy=f"http://operator:{quote(proxy_secret, safe='')}@127.0.0.1:1",
        metrics_collector="1",
        metrics_username="metrics",
        metrics_password=metrics_secret,
    )
    known = {
        "password of the administrator": PASSWORD,
        "password of the proxy": proxy_secret,
        "password of the metrics": metrics_secret,
    }
    client.request(service, "GET", "/metrics", headers=client.basic("metrics", metrics_secret))
    client.request(service, "GET", "/metrics", headers=client.basic("metrics", metrics_secret + "x"))
    known |= _accounts(service)
    known |= _feeds(testbed, service)
    known |= _integrations(testbed, service)
    known |= _mistakes(service)
    time.sleep(3)
    for what, secret in known.items():
        yield Result(Attempt(what, "is used, in valid and in invalid ways", SUCCEEDS_IF), _found(service.log, secret))


def _secret() -> str:
    # With characters that must be encoded in URLs.
    return f"s3cr/t+{secrets.token_hex(8)}"


def _found(log: str, secret: str) -> str:
    forms = {secret, quote(secret, safe=""), quote(secret), base64.b64encode(secret.encode()).decode().rstrip("=")}
    lines = [line for line in log.splitlines() if any(form in line for form in forms)]
    return lines[0][:400] if lines else ""


def _accounts(service: Service) -> dict[str, str]:
    user = person(service)
    user.password = changed = _secret()
    administrator(service).made("PUT", f"/v1/users/{user.id}", {"password": changed})
    key = user.made("POST", "/v1/api-keys", {"description": "a"})["token"]
    client.request(service, "GET", "/v1/me", headers={"X-Auth-Token": key})
    client.request(service, "POST", "/v1/feeds", headers={"X-Auth-Token": key}, body=b"{")
    user.sign_in()
    session = next(value for name, value in user.cookies.items() if "session" in name)
    settings = pages.forms(user.get("/settings").text, "/settings")
    token = next(form.values["csrf"] for form in settings if form.values.get("csrf"))
    user.post("/settings/password", urlencode({"csrf": token, "current": changed + "x", "new": changed + "y"}).encode())
    user.get(f"/unread?token={key}&password={changed}")
    wrong = Person(service, user.name, changed + "-wrong")
    with suppress(RuntimeError):
        wrong.sign_in()
    wrong.api("GET", "/v1/me")
    share = _list_link(user, token)
    return {
        "password of a user": changed,
        "API key": key,
        "session cookie": session,
        "token of a form": token,
        **({"address of a shared list": share} if share else {}),
    }


def _list_link(user: Person, token: str) -> str:
    user.post("/list-links", urlencode({"csrf": token}).encode())
    at = user.get("/list-links").text.partition("/lists/")[2]
    share = at.partition("/")[0] if at else ""
    if share:
        client.request(user.service, "GET", f"/lists/{share}/unread")
        client.request(user.service, "GET", f"/lists/{share}/feeds/999")
    return share


def _feeds(testbed: Testbed, service: Service) -> dict[str, str]:
    """Subscribe to working and failing feeds with credentials in every field for them."""
    user = person(service)
    known = {
        name: _secret()
        for name in (
            "password of a feed",
            "cookie of a feed",
            "password in an address",
            "key in an address",
            "password of a feed's proxy",
        )
    }
    body = '<rss version="2.0"><channel><title>a</title></channel></rss>'
    for path, content in {"/fine.xml": body, "/broken.xml": "<rss", "/gone.xml": ""}.items():
        url = testbed.publisher.serve(path, content) if content else testbed.publisher.url(path)
        inside = quote(known["password in an address"], safe="")
        key = quote(known["key in an address"], safe="")
        for base in testbed.choose((url, "http://127.0.0.1:1/refused.xml", "http://no-such-host.invalid/feed"), 1):
            address = base.replace("http://", f"http://reader:{inside}@")
            more = {
                "username": "reader",
                "password": known["password of a feed"],
                "cookie": f"session={known['cookie of a feed']}",
            }
            user.api("POST", "/v1/discover", {"url": f"{base}?token={key}", **more})
            answer = user.api("POST", "/v1/feeds", {"feed_url": address})
            if answer.status == 201:
                user.api("PUT", f"/v1/feeds/{answer.json()['feed_id']}", {**more, "feed_url": f"{url}?token={key}"})
                user.api("PUT", f"/v1/feeds/{answer.json()['feed_id']}/refresh")
    secret = quote(known["password of a feed's proxy"], safe="")
    wish = {
        "url": testbed.publisher.url("/fine.xml"),
        "proxy_url": f"http://reader:{secret}@127.0.0.1:1",
        "fetch_via_proxy": True,
    }
    user.api("POST", "/v1/discover", wish)
    user.api("POST", "/v1/discover", {"url": testbed.publisher.url("/fine.xml"), "fetch_via_proxy": True})
    outline = f'<outline text="a" xmlUrl="http://reader:{secret}@127.0.0.1:1/opml.xml"/>'
    user.api("POST", "/v1/import", f'<opml version="2.0"><body>{outline}</body></opml>'.encode())
    user.api("PUT", "/v1/feeds/refresh")
    return known


def _integrations(testbed: Testbed, service: Service) -> dict[str, str]:
    user = person(service)
    known = {
        "token of an integration": _secret(),
        "password of an integration": _secret(),
        "service address of Apprise": _secret(),
        "key in a webhook's address": _secret(),
    }
    refusing = "http://127.0.0.1:1"
    for url in testbed.choose((refusing, testbed.publisher.url("")), 1):
        key = quote(known["key in a webhook's address"], safe="")
        wishes = {
            "linkding": {"enabled": True, "url": url, "token": known["token of an integration"]},
            "shiori": {"enabled": True, "url": url, "username": "a", "password": known["password of an integration"]},
            "apprise": {
                "enabled": True,
                "urls": f"json://user:{quote(known['service address of Apprise'], safe='')}@127.0.0.1:1/",
            },
            "webhook": {"enabled": True, "url": f"{url}/hook?key={key}"},
        }
        for name, wish in wishes.items():
            user.api("PUT", "/v1/integrations", {name: wish})
            user.api("POST", f"/v1/integrations/{name}/test")
    created = user.api("GET", "/v1/integrations").json()["webhook"].get("secret", "")
    return {**known, **({"secret of the webhook": created} if created else {})}


def _mistakes(service: Service) -> dict[str, str]:
    """Send requests that are refused: their content must not be logged."""
    known = {
        "password in a refused request": _secret(),
        "password in broken JSON": _secret(),
        "password in a wrong type": _secret(),
    }
    head = administrator(service)
    head.api("POST", "/v1/users", {"username": "a b c", "password": known["password in a refused request"]})
    head.api("POST", "/v1/users", b'{"username": "a", "password": "' + known["password in broken JSON"].encode())
    head.api("POST", "/v1/users", {"username": "a", "password": [known["password in a wrong type"]]})
    return known
