"""What is read of messages, which are modelled on those that newsletters send."""

from __future__ import annotations

from base64 import b64encode
from email.message import EmailMessage

import pytest

from tidings.base.times import HOUR, Instant
from tidings.content import clean
from tidings.content.dates import parse_date
from tidings.content.letters import MAX_LETTER_BYTES, Letter, LetterUnreadable, raw_letter, read_letter

NOW = Instant(1_795_765_000_000_000)  # 27 November 2026
PNG = b"\x89PNG\r\n\x1a\n a picture"


def letter(*lines: str, body: str = "Rain.", **headers: str) -> Letter:
    """Read a message with these header lines, and headers by name, with `_` for `-`."""
    named = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    given = (
        lines if any(line.startswith("From:") for line in lines) or "From" in headers else ("From: a@b.example", *lines)
    )
    return read("\r\n".join([*given, *named, "", body]).encode())


def read(raw: bytes) -> Letter:
    return read_letter(raw, now=NOW)


def html_letter(html: str, **headers: str) -> Letter:
    return letter("Content-Type: text/html; charset=utf-8", body=html, **headers)


def shown(one: Letter) -> str:
    return clean(one.html, base_url=one.url)


def multipart(kind: str, *parts: str, boundary: str = "b") -> str:
    inside = "".join(f"--{boundary}\n{part}\n" for part in parts)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n{inside}--{boundary}--\n'


def part(text: str, kind: str = "text/plain", *headers: str) -> str:
    return "\n".join([f"Content-Type: {kind}", *headers, "", text])


def of_parts(kind: str, *parts: str) -> Letter:
    return read(f"From: a@b.example\nMIME-Version: 1.0\n{multipart(kind, *parts)}".encode())


# Senders


@pytest.mark.parametrize(
    ("headers", "key", "name"),
    [
        (["From: Tide Tables <Post@Tides.example>"], "from:post@tides.example", "Tide Tables"),
        (['From: "Tides, daily" <post@tides.example>'], "from:post@tides.example", "Tides, daily"),
        (["From: post@tides.example"], "from:post@tides.example", "post@tides.example"),
        (["From: post@tides.example (Tide Tables)"], "from:post@tides.example", "Tide Tables"),
        (["From: =?utf-8?q?Caf=C3=A9?= <c@d.example>"], "from:c@d.example", "Café"),
        (["From: =?utf-8?q?Caf=C3?= =?utf-8?q?=A9?= <c@d.example>"], "from:c@d.example", None),
        (["From: a@b.example", "List-Id: Tides <tides.lists.example>"], "list:tides.lists.example", "Tides"),
        (["From: Ada <a@b.example>", "List-Id: <T.lists.example>"], "list:t.lists.example", "Ada"),
        (["From: Ada <a@b.example>", "List-ID: tides.lists.example"], "list:tides.lists.example", "Ada"),
        (["Sender: s@b.example", "Subject: x"], "from:s@b.example", "s@b.example"),
        (["Subject: nobody"], "", ""),
        (["From: undisclosed"], "", "undisclosed"),
    ],
)
def test_letters_of_one_newsletter_have_one_key(headers: list[str], key: str, name: str | None) -> None:
    sender = read("\n".join([*headers, "", "x"]).encode()).sender

    assert sender.key == key
    assert name is None or sender.name in (name, sender.address)
    if name:
        assert sender.name == name or "List-Id: Tides" in headers[-1]


# Headers


def test_a_subject_in_any_encoding_is_read() -> None:
    assert letter(Subject="=?utf-8?b?VGlkZXMg8J+Mig==?=").subject == "Tides 🌊"
    assert letter(Subject="=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= news").subject == "日本 news"
    assert letter(Subject="=?utf-8?q?One?=\r\n =?utf-8?q?_two?=").subject == "One two"
    assert letter(Subject="=?utf-8?b?VGlkZ?=").subject
    assert letter(Subject="=?no-such-charset?q?Rain?=").subject == "Rain"
    assert read("Subject: Größe\nFrom: a@b.example\n\n".encode("latin-1")).subject == "Größe"
    assert read("Subject: Größe\nFrom: a@b.example\n\n".encode()).subject == "Größe"


def test_a_date_is_not_in_the_future() -> None:
    assert letter(Date="Fri, 20 Nov 2026 07:30:00 +0100").published_at == parse_date("2026-11-20T06:30:00Z")
    assert letter(Date="Fri, 20 Nov 2026 07:30:00 +0000 (UTC)").published_at == parse_date("2026-11-20T07:30:00Z")
    assert letter(Date="Tue, 1 Jan 2199 00:00:00 +0000").published_at == NOW
    assert letter(Date="Thu, 1 Jan 1970 00:00:00 +0000").published_at is None
    assert letter(Date="yesterday-ish").published_at is None
    assert letter().published_at is None
    by_server = letter("Received: from a by b; Fri, 20 Nov 2026 07:30:00 +0000", Date="soon").published_at
    assert by_server == parse_date("2026-11-20T07:30:00Z")
    assert letter(Date="Fri, 27 Nov 2026 00:00:00 +0000").published_at != Instant(NOW + HOUR)


def test_copies_of_a_message_have_one_identity() -> None:
    assert letter("Message-ID: <1@tides.example>", To="x@y.example").identity == "1@tides.example"
    assert letter("Message-Id: no-brackets").identity == "no-brackets"
    same = [letter(f"Received: from {one} by b; now", Subject="Tides", body="Low") for one in ("a", "c")]
    assert same[0].identity == same[1].identity
    assert letter(Subject="Tides", body="High").identity != same[0].identity


def test_ways_to_unsubscribe_are_read() -> None:
    both = letter(
        "List-Unsubscribe: <mailto:leave@t.example?subject=x>,\r\n <https://t.example/leave?u=1>",
        "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ).unsubscription

    assert (both.url, both.mail, both.is_one_click) == (
        "https://t.example/leave?u=1", "mailto:leave@t.example?subject=x", True,
    )  # fmt: skip
    plain = letter(
        "List-Unsubscribe: <http://t.example/leave>", "List-Unsubscribe-Post: List-Unsubscribe=One-Click"
    ).unsubscription
    assert (plain.url, plain.is_one_click) == ("http://t.example/leave", False)
    assert not letter("List-Unsubscribe: <https://t.example/leave>").unsubscription.is_one_click
    assert letter("List-Unsubscribe: <javascript:alert(1)>").unsubscription.url == ""


def test_only_the_topmost_authentication_result_counts() -> None:
    found = letter(
        "Authentication-Results: mx.example; spf=pass (a; dkim=fail) smtp.mailfrom=b; dkim=none; dmarc=Fail p=NONE",
        "Authentication-Results: forged.example; dmarc=pass",
    ).authentication

    assert dict(found) == {"spf": "pass", "dkim": "none", "dmarc": "fail"}


def test_marks_of_filters_and_robots_are_read() -> None:
    assert letter("X-Spam-Flag: YES").is_spam
    assert letter("X-Spam-Status: Yes, score=9.1").is_spam
    assert not letter("X-Spam-Status: No, score=-1").is_spam
    assert letter("Auto-Submitted: auto-replied (vacation)").is_automatic_reply
    assert not letter("Auto-Submitted: auto-generated").is_automatic_reply


# Bodies


def test_the_richest_alternative_is_read_wherever_it_stands() -> None:
    text, html = part("Plain."), part("<p>Rich.</p>", "text/html")
    for parts in ((text, html), (html, text), (html, text, part("{}", "text/x-amp-html"))):
        assert shown(of_parts("alternative", *parts)) == "<p>Rich.</p>"
    assert shown(of_parts("alternative", text, part("", "text/html"))) == "<p>Plain.</p>"


def test_parts_of_a_mixed_message_follow_each_other() -> None:
    one = of_parts(
        "mixed",
        multipart("alternative", part("Plain."), part("<p>Rich.</p>", "text/html"), boundary="c"),
        part("-- \nThe list"),
        part("x", 'application/pdf; name="tides.pdf"', "Content-Disposition: attachment"),
        part("notes", 'text/plain; name="notes.txt"', "Content-Disposition: attachment; filename=notes.txt"),
    )

    assert shown(one).startswith("<p>Rich.</p>\n<hr>\n<p>")
    assert "The list" in one.html
    assert one.attachments == ("tides.pdf", "notes.txt")
    assert "tides.pdf" in shown(one)


def test_pictures_of_the_message_are_shown_once() -> None:
    encoded = b64encode(PNG).decode()
    one = of_parts(
        "related",
        part('<img src="cid:logo@t"><img src="cid:logo@t"><img src="cid:gone">', "text/html"),
        part(encoded, "image/png", "Content-ID: <logo@t>", "Content-Transfer-Encoding: base64"),
    )

    assert shown(one).count("<img") == 1
    assert f"data:image/png;base64,{encoded}" in shown(one)


def with_pictures(*sizes: int) -> Letter:
    """Return a letter with pictures of these sizes in bytes, and before them one that its HTML does not name."""
    pictures = [(f"p{number}@t", PNG + bytes(size - len(PNG))) for number, size in enumerate(sizes)]
    return of_parts(
        "related",
        part("".join(f'<img src="cid:{name}">' for name, _ in pictures), "text/html"),
        *(
            part(
                b64encode(content).decode(),
                "image/png",
                f"Content-ID: <{name}>",
                "Content-Transfer-Encoding: base64",
            )
            for name, content in [("unseen@t", bytes(250_000)), *pictures]
        ),
    )


def test_a_letter_says_how_many_pictures_were_too_large_to_keep() -> None:
    one = with_pictures(1_000, 300_001, 300_000, 300_000, 300_000, 300_000, 2_000)

    assert shown(one).count("<img") == 5
    assert "Pictures that are too large were left out: 2." in shown(one)


def test_pictures_that_a_letter_does_not_show_take_no_room_from_others() -> None:
    one = with_pictures(300_000, 300_000, 300_000)

    assert shown(one).count("<img") == 3
    assert one.problems == ()


def test_a_picture_that_is_no_picture_is_left_out() -> None:
    for kind in ("text/html", "image/svg+xml", "application/octet-stream"):
        one = of_parts(
            "related",
            part('<p>Hi</p><img src="cid:x">', "text/html"),
            part("PHN2Zz4=", kind, "Content-ID: <x>", "Content-Transfer-Encoding: base64"),
        )
        assert shown(one) in ("<p>Hi</p>", "<p>Hi</p>\n<hr>\nPHN2Zz4=")


@pytest.mark.parametrize(
    ("encoding", "body", "expected"),
    [
        ("quoted-printable", "Caf=C3=A9 =", "Café"),
        ("quoted-printable", "Caf=C3=A9 =E", "Café =E"),
        ("quoted-printable", "a =3D b=", "a = b"),
        ("base64", "Q2Fmw6k", "Café"),
        ("base64", "Q2Fmw6kgYW5kIG1v\n*", "Café and mo"),
        ("8bit", "Café", "Café"),
        ("no-such-encoding", "Café", "Café"),
    ],
)
def test_an_encoding_that_is_cut_off_gives_what_is_there(encoding: str, body: str, expected: str) -> None:
    one = letter("Content-Type: text/html; charset=utf-8", f"Content-Transfer-Encoding: {encoding}", body=body)

    assert shown(one).strip().startswith(expected.strip())


@pytest.mark.parametrize("label", ["utf-8", "us-ascii", "no-such-charset", ""])
def test_bytes_that_are_not_utf8_are_read(label: str) -> None:
    raw = f"From: a@b.example\nContent-Type: text/plain; charset={label}\n\n".encode()

    assert "Größe und Höhe" in shown(read(raw + "Größe und Höhe, täglich für Sie".encode("latin-1")))
    assert "Größe und Höhe" in shown(read(raw + "Größe und Höhe".encode()))


def test_a_japanese_letter_is_read() -> None:
    raw = b"From: a@b.example\nContent-Type: text/plain; charset=iso-2022-jp\n\n" + "潮の時刻".encode("iso-2022-jp")

    assert shown(read(raw)) == "<p>潮の時刻</p>"


def test_text_becomes_paragraphs_with_links() -> None:
    one = letter(body="Low <tide>\nat noon\n\nSee https://t.example/a?b=1&c=2.\n\n> quoted")

    assert 'href="https://t.example/a?b=1&amp;c=2"' in shown(one)
    assert "<p>Low &lt;tide&gt;<br>at noon</p>" in shown(one)
    flowed = letter("Content-Type: text/plain; format=flowed", body="One line \ngoes on.\n\n-- \nAda")
    assert "<p>One line goes on.</p>" in shown(flowed)
    assert "-- <br>Ada" in flowed.html


@pytest.mark.parametrize(
    "raw",
    [
        multipart("mixed", part("x", "application/pdf; name=a.pdf")),
        multipart("mixed"),
        "Content-Type: multipart/mixed; boundary=gone\n\nNothing.",
        "Content-Type: multipart/mixed\n\nno boundary",
        "Content-Type: application/pdf\n\nx",
        "Subject: nothing at all\n\n",
    ],
)
def test_a_message_without_text_says_so(raw: str) -> None:
    one = read(f"From: a@b.example\n{raw}".encode())

    assert "This message has no text." in one.problems or one.html
    assert shown(one)


def test_a_forwarded_message_is_read() -> None:
    forwarded = "From: c@d.example\nSubject: Inside\n\nThe storm of 2019."

    assert "The storm of 2019." in shown(of_parts("mixed", part("See below."), part(forwarded, "message/rfc822")))


def test_deep_parts_are_left_out() -> None:
    def nested(depth: int) -> str:
        inside = part("Deep.") if depth == 0 else nested(depth - 1)
        return multipart("mixed", inside, boundary=f"b{depth}")

    def at(depth: int) -> Letter:
        return read(f"From: a@b.example\n{nested(depth)}".encode())

    assert shown(at(18)) == "<p>Deep.</p>"
    assert "nested too deeply" in at(30).problems[0]
    assert "nested too deeply" in shown(at(30))


# Mark-up


def test_layout_tables_become_boxes_and_data_stays() -> None:
    one = html_letter(
        '<table role="presentation"><tr><td><p>Low tide</p></td><td><p>High tide</p></td></tr>'
        "<tr><td><table><tr><th>Time</th></tr><tr><td>12:00</td></tr></table></td></tr></table>"
    )

    assert shown(one).count("<table") == 1
    assert "<th>Time</th>" in shown(one)
    assert "<p>Low tide</p>" in shown(one)


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "max-height:0;overflow:hidden",
        "mso-hide:all",
        "color:red; max-height: 0px !important",
        "opacity:0",
    ],
)
def test_hidden_preheaders_are_left_out(style: str) -> None:
    assert "Secret" not in shown(html_letter(f'<div style="{style}">Secret</div><p>Seen.</p>'))


def test_shown_text_is_not_taken_for_a_preheader() -> None:
    for style in ("max-height:600px", "opacity:0.8", "font-size:0", "line-height:1"):
        assert "Seen" in shown(html_letter(f'<div style="{style}">Seen</div>'))


def test_pixels_and_comments_for_outlook_are_left_out() -> None:
    one = html_letter(
        "<!--[if mso]><p>Outlook</p><![endif]--><!--[if !mso]><!--><p>All</p><!--<![endif]-->"
        '<img src="https://t.example/open.gif" width="1" height="1">'
    )

    assert shown(one) == "<p>All</p>"


@pytest.mark.parametrize("size", ["width=0", 'height="1"', "width='1px'", 'width="600" height="1"', "HEIGHT=00"])
def test_a_picture_with_a_side_of_a_pixel_is_left_out(size: str) -> None:
    assert shown(html_letter(f'<p>All</p><img src="https://t.example/open.gif" {size}>')) == "<p>All</p>"


@pytest.mark.parametrize("size", ["width=10", 'width="1" style="width:100%"', 'height="100%"', "data-width=1", ""])
def test_a_picture_that_is_seen_stays(size: str) -> None:
    assert "chart.png" in shown(html_letter(f'<p>All</p><img src="https://t.example/chart.png" {size}>'))


def test_scripts_of_a_letter_do_not_survive() -> None:
    one = html_letter('<p onclick="x()">Hi</p><script>alert(1)</script><a href="javascript:x()">y</a>')

    assert "script" not in shown(one)
    assert "onclick" not in shown(one)


# Links


@pytest.mark.parametrize(
    "text",
    ["View in browser", "View this email in your browser", "Read online", "Im Browser ansehen", "View <b>online</b>",
     "Voir dans votre navigateur", "Ver en el navegador", "Web version", "ブラウザで見る"],
)  # fmt: skip
def test_the_address_in_a_browser_is_found(text: str) -> None:
    html = f'<a href="https://t.example/">Tides</a> <a href="https://t.example/v?a=1&amp;b=2">{text}</a>'

    assert html_letter(html).url == "https://t.example/v?a=1&b=2"


def test_the_archive_is_preferred_and_other_links_are_not_taken() -> None:
    html = '<a href="https://t.example/v">View in browser</a>'

    assert html_letter(html, Archived_At="<https://t.example/archive/1>").url == "https://t.example/archive/1"
    assert html_letter('<a href="https://t.example/">Read more</a>').url == ""
    assert html_letter('<a href="javascript:x">View in browser</a>').url == ""


@pytest.mark.parametrize(
    ("subject", "link"),
    [
        ("Confirm your subscription", "Confirm"),
        ("Please verify your email address", "Yes, verify"),
        ("Bitte bestätigen Sie Ihre Anmeldung", "Anmeldung bestätigen"),
        ("Confirmez votre inscription", "Je confirme"),
    ],
)
def test_a_letter_that_asks_to_confirm_names_its_link(subject: str, link: str) -> None:
    html = (
        '<p>Welcome to the newsletter.</p><a href="https://t.example/">Home</a>'
        f'<a href="https://t.example/c?t=1">{link}</a><a href="https://t.example/unsubscribe">Unsubscribe</a>'
    )
    message = EmailMessage()
    message["From"], message["Subject"] = "a@b.example", subject
    message.set_content(html, subtype="html")

    assert read(message.as_bytes()).confirmation_url == "https://t.example/c?t=1"


def test_other_letters_ask_for_no_confirmation() -> None:
    link = '<a href="https://t.example/c">Confirm</a>'

    assert html_letter(link, Subject="Tides of the week").confirmation_url == ""
    assert html_letter(link, Subject="Confirm your order").confirmation_url == ""
    assert html_letter("newsletter", Subject="Confirm your subscription").confirmation_url == ""


# What cannot be read


@pytest.mark.parametrize(
    "raw",
    [
        b"x" * (MAX_LETTER_BYTES + 1),
        b"From: a\n" + b"X-A: b\n" * 6_000 + b"\nbody",
        b"From: a\n\n" + b"--b\n" * 20_000,
        b"From: a\n\n" + b"\r" * 600_000,
        b"From: a\n\n" + b"Content-Type: multipart/mixed\n" * 200,
        b'From: a\nContent-Type: text/html; a="' + b';\n "a' * 5_000 + b"\n\nx",
        b"",
        b"\n\nno headers",
    ],
)
def test_a_message_that_cannot_be_read_is_kept_as_it_came(raw: bytes) -> None:
    with pytest.raises(LetterUnreadable) as refused:
        read(raw)

    kept = raw_letter(raw, str(refused.value), now=NOW)
    assert str(refused.value) in shown(kept)
    assert kept.identity == raw_letter(raw, "", now=NOW).identity


def test_a_raw_letter_keeps_sender_and_subject() -> None:
    kept = raw_letter(b"From: Ada <a@b.example>\nSubject: Tides\n\n<b>x</b>", "Damaged.", now=NOW)

    assert (kept.sender.name, kept.subject) == ("Ada", "Tides")
    assert "&lt;b&gt;x&lt;/b&gt;" in shown(kept)


def test_lines_of_mailbox_files_are_skipped() -> None:
    assert read(b"From a@b Fri Nov 20\nFrom: a@b.example\nSubject: Tides\n\nx").subject == "Tides"
