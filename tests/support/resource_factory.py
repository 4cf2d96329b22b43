"""Creates a resource for every id that a path can name, and a body for every route that needs one.

Add the parameters and bodies of new routes here: the tests of all routes and the examples use them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from support.people import Person, call
from support.publisher import Publisher
from tidings.domain.accounts.events import Method, Origin
from tidings.newsletters import store as newsletters_store
from tidings.rules.services import RuleServices
from tidings.sign_in import account_links_store
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.services import SignInServices

UNKNOWN = 2147483000
A_DAY = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()

FEED = """<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0"><channel>
  <title>Weather notes</title><link>{site}/</link><description>What the sky did.</description><language>en</language>
  <item>
    <title>Rain tomorrow</title><link>{site}/rain</link><guid>{site}/rain</guid><category>rain</category>
    <pubDate>Fri, 20 Nov 2026 07:30:00 GMT</pubDate><author>ada@example.org (Ada)</author>
    <description>&lt;p&gt;Take an &lt;em&gt;umbrella&lt;/em&gt;.&lt;/p&gt;</description>
    <enclosure url="{site}/rain.mp3" type="audio/mpeg" length="1830400"/>
  </item>
</channel></rss>
"""
SECOND_FEED = '<rss version="2.0"><channel><title>Tides</title><link>{site}/tides</link></channel></rss>'
ARTICLE = """<!doctype html><html><head><title>Rain tomorrow</title>
<link rel="alternate" type="application/rss+xml" title="Weather notes" href="/feed.xml"></head><body><article>
<h1>Rain tomorrow</h1>{paragraphs}</article></body></html>"""
PARAGRAPH = (
    "<p>The front comes in from the west before noon, and it brings rain for most of the day. Take an umbrella, and "
    "leave the bicycle at home unless you have a good coat and better patience.</p>"
)
ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="4" cx="4" cy="4" fill="{color}"/></svg>'
# What is found where the feed has its sound: endpoints read it as chapters, or as a transcript.
EPISODE_PARTS = """{"version": "1.2.0",
"chapters": [{"startTime": 0, "title": "Hello"}, {"startTime": 61, "title": "Rain"}],
"segments": [{"startTime": 1.5, "speaker": "Ada", "body": "Take an umbrella."}]}"""
LETTER = b"""From: Tides <post@tides.example>
Message-ID: <1@tides.example>
Subject: High water
List-Id: <tides.lists.example>
List-Unsubscribe: <https://tides.example/leave>

High water at noon.
"""
OPML = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="2.0"><body><outline text="Sea"><outline text="Buoys" xmlUrl="https://buoys.example/feed.xml"/></outline>
</body></opml>
"""

# By parameter name: a function that creates such a resource for a user and returns its id.
MAKERS: Mapping[str, Callable[[ResourceFactory], int]] = {
    "feed_id": lambda resources: int(resources.feed["id"]),
    "category_id": lambda resources: int(resources.feed["category"]["id"]),
    "entry_id": lambda resources: int(resources.entry["id"]),
    "enclosure_id": lambda resources: int(resources.entry["enclosures"][0]["id"]),
    "api_key_id": lambda resources: int(resources.person.post("/v1/api-keys", {"description": "phone"})["id"]),
    "api_password_id": lambda resources: int(resources.person.post("/v1/api-passwords", {"name": "phone"})["id"]),
    "icon_id": lambda resources: int(resources.feed["icon"]["icon_id"]),
    "user_id": lambda resources: resources.person.id,
    "label_id": lambda resources: int(resources.entry["labels"][0]["id"]),
    "rule_id": lambda resources: resources.an_applied_rule(),
    "view_id": lambda resources: int(
        resources.person.post("/v1/views", {"name": "Wet weather", "query": "title:rain OR tag:rain"})["id"]
    ),
    "webhook_id": lambda resources: int(
        resources.person.post("/v1/webhooks", {"name": "Storms", "url": resources.site.serve("/hook")})["id"]
    ),
    "subscription_id": lambda resources: resources.a_followed_list(),
    "newsletter_id": lambda resources: int(resources.person.post("/v1/newsletters", {"name": "Letters"})["id"]),
    "sender_id": lambda resources: resources.a_sender(),
    "delivery_id": lambda resources: resources.a_delivery(),
    "session_id": lambda resources: resources.a_session(),
    "version": lambda resources: resources.an_earlier_version(),
    "invitation_id": lambda resources: resources.an_invitation(),
}

# By parameter name: the name of a thing that all users share.
NAMES: Mapping[str, str] = {"integration": "webhook"}

# By the name of the operation. Text is sent as it is, anything else as JSON; {site} is where the publisher is.
BODIES: Mapping[str, Any] = {
    "create_user": {"username": "grace", "password": "a long walk home"},
    "update_user": {"timezone": "Europe/Lisbon", "entries_per_page": 50},
    "update_limits": {"max_feeds": 300},
    "create_api_key": {"description": "Reader on the tablet"},
    "create_api_password": {"name": "Reader on the tablet"},
    "create_category": {"title": "Sea"},
    "update_category": {"title": "Weather and sky"},
    "create_label": {"title": "To read", "color": "green"},
    "update_label": {"title": "Read next", "position": 1},
    "discover": {"url": "{site}/rain"},
    "change_feeds": {"feed_ids": ["{feed_id}"], "action": "set_interval", "check_interval_minutes": 60},
    "preview_feed_rules": {"block_filter_entry_rules": "EntryTitle=(?i)rain"},
    "preview_page": {
        "url": "{site}/rain",
        "kind": "html+css",
        "selectors": {"item": "article p", "title": "."},
    },
    "create_invitation": {"note": "Grace", "max_feeds": 200},
    "add_to_queue": {"enclosure_id": "{enclosure_id}"},
    "move_in_queue": {"position": 1},
    "create_feed": {"feed_url": "{site}/tides.xml"},
    "update_feed": {"title": "Weather"},
    "update_entries": {"entry_ids": ["{entry_id}"], "status": "read"},
    "update_entry": {"title": "Rain tomorrow, after all"},
    "mark_entries_read": {"range": "above", "entry_id": "{entry_id}"},
    "undo_mark_read": {"undo_token": "1764000000000000"},
    "mark_view_entries_read": {"range": "all"},
    "save_page": {"url": "{site}/rain"},
    "import_entry": {"url": "https://weather.example/2019/storm", "title": "The storm of 2019", "tags": ["storm"]},
    "create_rule": {
        "name": "Old weather",
        "query": "title:rain published:7d",
        "actions": [{"type": "mark_read"}, {"type": "star"}],
    },
    "update_rule": {"enabled": False},
    "order_rules": {"rule_ids": ["{rule_id}"]},
    "preview_rule": {"query": "title:rain", "actions": [{"type": "mark_read"}]},
    "explain_query": {"query": "title:rain (is:starred OR published:7d)"},
    "create_view": {"name": "Fresh", "query": "is:unread published:7d", "icon": "star"},
    "update_list_setting": {"list": "unread", "direction": "asc", "density": "compact"},
    "update_read_after": {"days": 90, "categories": {}, "feeds": {}},
    "update_bridges": {"rsshub_url": "", "rssbridge_url": "", "flaresolverr_url": ""},
    "snooze_entries": {"entry_ids": ["{entry_id}"], "until": A_DAY},
    "snooze_entry": {"until": A_DAY},
    "update_view": {"direction": "asc", "position": 1, "in_apps": True},
    "update_enclosure": {"media_progression": 45},
    "import_feeds": OPML,
    "create_opml_subscription": {"url": "{site}/blogroll.opml"},
    "decide_removals": {"remove": [], "keep": []},
    "import_account": "title,url,time_added,tags,status\nStorm,https://weather.example/storm,1600000000,sea,unread\n",
    "import_from_miniflux": {"url": "{site}", "api_key": "8c1f"},
    "import_from_ttrss": {"url": "{site}", "username": "ann", "password": "8c1f"},
    "create_webhook": {
        "name": "Rain",
        "url": "{site}/hook",
        "events": ["new_entries", "feed_failed"],
        "query": "title:rain",
    },
    "create_newsletter": {"name": "Letters about the sea", "one_feed": False},
    "update_newsletter_sender": {"name": "Tide tables", "blocked": False},
    "set_newsletter_mailbox": {"host": "imap.example.org", "username": "ann", "password": "8c1f", "folder": "Letters"},
    "update_webhook": {"events": ["entry_starred"], "enabled": False},
    "update_integrations": {
        "webhook": {"enabled": True, "url": "{site}/hook"},
        "linkding": {"enabled": True, "url": "https://links.example.org", "token": "8c1f", "tags": "tidings"},
    },
}


class ResourceFactory:
    """The resources of one user, each created when its id is first requested."""

    person: Person
    site: Publisher
    feed: dict[str, Any]
    entry: dict[str, Any]

    def __init__(self, person: Person, site: Publisher) -> None:
        self.person = person
        self.site = site
        self._ids: dict[str, int] = {}
        for path, text in (("/feed.xml", FEED), ("/tides.xml", SECOND_FEED)):
            site.serve(path, text.replace("{site}", site.url("")))
        # Each icon has its own colour: feeds with the same image share one icon.
        site.serve(
            "/favicon.ico", ICON.replace("{color}", f"#{person.id:06x}"), headers={"Content-Type": "image/svg+xml"}
        )
        site.serve("/rain.mp3", EPISODE_PARTS)
        site.serve("/blogroll.opml", OPML)
        site.serve("/followed.opml", OPML)
        site.serve("/rain", ARTICLE.replace("{paragraphs}", PARAGRAPH * 4))
        created = person.post("/v1/feeds", {"feed_url": site.url("/feed.xml")})
        self.feed = person.get(f"/v1/feeds/{created['feed_id']}")
        entry_id = person.entries()[0]["id"]
        person.service.services.entries.labels.change(person.id, [entry_id], add=["Umbrellas"])
        self.entry = person.get(f"/v1/entries/{entry_id}")

    def id_of(self, parameter: str) -> int:
        assert parameter in MAKERS, f"resource_factory.py does not make a {parameter}"
        if parameter not in self._ids:
            self._ids[parameter] = MAKERS[parameter](self)
        return self._ids[parameter]

    def named(self, parameter: str) -> str:
        """Return the value of a path parameter."""
        return NAMES.get(parameter) or str(self.id_of(parameter))

    def a_delivery(self) -> int:
        """Add a delivery, which stays pending: these tests run no worker."""
        webhook = {"webhook": {"enabled": True, "url": self.site.url("/hook")}}
        self.person.put("/v1/integrations", webhook, status=201)
        self.person.post(f"/v1/entries/{self.entry['id']}/save", status=202)
        return int(self.person.get("/v1/webhooks/deliveries")["deliveries"][0]["id"])

    def a_sender(self) -> int:
        """Have a newsletter delivered, which is left by one request; over http, as the publisher has no certificate."""
        path = self.person.post("/v1/newsletters", {"name": "Letters"})["post_path"]
        answer = call(self.person.service.url, "POST", path, LETTER)
        assert answer.status == 200, answer.body
        sender_id = int(self.person.get("/v1/newsletters/senders")[0]["id"])
        values = {"unsubscribe_url": self.site.serve("/leave"), "is_one_click": True}
        with self.person.service.services.database.writing() as db:
            newsletters_store.change_sender(db, self.person.id, sender_id, **values)
        return sender_id

    def a_session(self) -> int:
        """Sign the user in."""
        sessions = self.person.service.services.accounts.sessions
        sessions.begin(self.person.user, Origin("192.0.2.1", "Mozilla/5.0", Method.PASSWORD))
        return sessions.list_all(self.person.id)[0].id

    def an_invitation(self) -> int:
        """Add an invitation."""
        services = self.person.service.services
        note = f"For a friend of {self.person.id}"
        services.of(SignInServices).links.invite(
            self.person.user, Origin("192.0.2.1"), note=note, is_admin=False, limits=Limits()
        )
        with services.reading() as db:
            found = account_links_store.invitations(db, services.clock())
        return next(link.id for link in found if link.note == note)

    def a_followed_list(self) -> int:
        """Follow a list of feeds."""
        url = self.site.url("/followed.opml")
        return int(self.person.post("/v1/opml-subscriptions", {"url": url}, status=201)["id"])

    def an_applied_rule(self) -> int:
        """Add a rule, and apply it to the stored entries."""
        rule_id = int(self.person.post("/v1/rules", {"query": "title:rain", "actions": [{"type": "star"}]})["id"])
        self.person.post(f"/v1/rules/{rule_id}/apply", status=202)
        while self.person.service.services.of(RuleServices).runs.work("tests"):
            pass
        return rule_id

    def an_earlier_version(self) -> int:
        """Have the publisher change the entry, and return the number of the version that it had."""
        entry_id = self.id_of("entry_id")
        text = FEED.replace("{site}", self.site.url("")).replace("Take an", "Take boots and an")
        self.site.serve("/feed.xml", text)
        self.person.put(f"/v1/feeds/{self.id_of('feed_id')}/refresh")
        return int(self.person.get(f"/v1/entries/{entry_id}/versions")[0]["version"])

    def body(self, operation: str) -> Any:
        assert operation in BODIES, f"resource_factory.py has no body for {operation}"
        return self._filled(BODIES[operation])

    def _filled(self, value: Any) -> Any:
        match value:
            case "{entry_id}":
                return self.id_of("entry_id")
            case "{rule_id}" | "{feed_id}" | "{enclosure_id}":
                return self.id_of(value[1:-1])
            case str():
                return value.replace("{site}", self.site.url(""))
            case list():
                return [self._filled(one) for one in value]
            case dict():
                return {name: self._filled(one) for name, one in value.items()}
        return value
