"""Searches find what the reference server finds, except where docs/api.md says otherwise."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest

from support.people import Person
from support.publisher import Publisher
from support.reference import ReferenceMissing, ReferenceServer, reference_server

pytestmark = [pytest.mark.slow, pytest.mark.long]

# Titles and texts.
ENTRIES = [
    ("Eins", "Der erste Text."),
    ("Zwei", "Der zweite Text."),
    ("Eins und Zwei", "Beide zusammen."),
    ("Rain in Spain", "It rains heavily on the plain."),
    ("Heavy rain expected", "Snow and hail later."),
    ("Rain heavy", "Heavy and rain, not next to each other: rain was heavy."),
    ("Snow tomorrow", "No rain, only snow."),
    ("Hail storms", "Hailstones as big as eggs."),
    ("Raining cats and dogs", "A phrase for heavy rains."),
    ("The or of it", "Either or, or both."),
    ("To be or not to be", "That is the question."),
    ("The Who live", "A band of the sixties."),
    ("E-mail is dead", "Send an e-mail or email to news@example.org today."),
    ("Visit example.org", "See https://example.org/blog/post?id=3 for more."),
    ("C++ and C# and F#", "Languages with signs; .NET too."),
    ("AT&T buys R&D", "Rock &amp; roll."),
    ("Version 2.3.4 released", "After 2.3.2 and v2.3.3 of the server."),
    ("Covid-19 numbers", "Well-known state-of-the-art tests."),
    ("Running a marathon", "The runner ran quickly."),
    ("Studies of a study", "Students studied studios."),
    ("Connections connected", "Connect the connecting rods."),
    ("Organization of organisms", "Organs and organise."),
    ("Café culture", "A naïve resumé in the cafés."),
    ("Cafe without accent", "naive resume"),
    ("Häuser in Köln", "Das Haus und die Häuser, Straße und Strasse."),
    ("Le cheval et les chevaux", "L'été est arrivé aujourd'hui."),
    ("El niño come", "Los niños comieron las canciones."),
    ("Москва зимой", "Погода в Москве и снег."),
    ("東京の天気", "今日は雨です。"),
    ("北京 天气", "今天 下雨"),
    ("서울 날씨", "비가 옵니다"),
    ("Αθήνα", "Καιρός στην Αθήνα."),
    ("الطقس اليوم", "مطر غزير"),
    ("מזג האוויר", "גשם היום"),
    ("O'Reilly's books", "Don't panic; it's the author’s book."),
    ("user_name and snake_case", "file_name.txt in /usr/local/bin"),
    ("Price: $5.00 or 10%", "1,000 euros and 3.14 and -7 degrees."),
    ("(parentheses) matter", "{braces} [brackets] &lt;angles&gt;"),
    ("A very long hyphen-ated-word", "self-driving cars"),
    ("iPhone 15 Pro", "The iPhones of Apple's."),
    ("linux kernel 6.12", "Kernel of the Linux Foundation."),
    ("Linux", "Ubuntu"),
    ("Kernel panic", "oops"),
    ("Emoji ☔ rain", "☂ umbrella 😀"),
    ("TCP/IP networking", "and/or, input/output"),
    ("U.S. elections", "The U.S.A. and the UK."),
    ("tea-time", "tea time; time for tea"),
    ("stop words", "the and of a in is it"),
    ("better best good", "went gone going goes"),
    ("Umbrella", "Umbrellas only."),
]
# Separated by tildes.
ALIKE = r"""
Eins ~ Zwei ~ Eins Zwei ~ Eins OR Zwei ~ Eins or Zwei ~ eins Or zwei ~ eins oR zwei ~ Eins -Zwei ~ -Eins Zwei ~
"Eins und Zwei" ~ "Eins Zwei" ~ Zwei Eins ~ rain ~ rains ~ raining ~ rained ~ Rain ~ RAIN ~ rain snow ~
rain or snow ~ rain OR snow OR hail ~ rain snow or hail ~ rain or snow hail ~ snow hail or rain ~ rain -snow ~
rain -snow -hail ~ -rain ~ -rain snow ~ -snow or -rain ~ -rain or snow ~ rain or -snow ~ rain -or ~
rain - snow ~ rain -  snow ~ rain --snow ~ --rain ~ - rain ~ - ~ -- ~ rain-snow ~ heavy rain ~ "heavy rain" ~
"rain heavy" ~ "heavy rains" ~ "rain" ~ "" ~ " " ~ " ~ "rain ~ rain" ~ "heavy rain ~ heavy rain" ~
-"heavy rain" ~ rain -"heavy rain" ~ "heavy rain" or snow ~ "heavy rain" "snow" ~ "heavy rain"snow ~
snow"heavy rain" ~ "heavy -rain" ~ rain in spain ~ "rain in spain" ~ "rain spain" ~ e-mail ~ email ~ "e-mail" ~
e mail ~ "e mail" ~ -e-mail ~ e-mail -send ~ news@example.org ~ www.example.org ~ C++ ~ C# ~ F# ~ c ~ .net ~
net ~ r&d ~ R & D ~ rock & roll ~ rock roll ~ rock ~ 2.3.4 ~ v2.3.3 ~ 3.14 ~ 1,000 ~ 1000 ~ $5.00 ~ 5.00 ~
10% ~ covid-19 ~ covid ~ well-known ~ well known ~ known ~ state-of-the-art ~ state of the art ~ state art ~
run ~ running ~ runner ~ ran ~ quick ~ quickly ~ study ~ studies ~ student ~ studio ~ studied ~ connect ~
connection ~ connected ~ connecting ~ organization ~ organ ~ organism ~ organise ~ haus ~ häuser ~ köln ~
straße ~ strasse ~ cheval ~ chevaux ~ l'été ~ été ~ aujourd'hui ~ niño ~ niños ~ comer ~ canciones ~ москва ~
москве ~ снег ~ погода ~ 北京 ~ 下雨 ~ 天气 ~ 서울 ~ 비가 ~ αθήνα ~ καιρός ~ مطر ~ الطقس ~ גשם ~ o'reilly ~ oreilly ~
reilly ~ dont ~ author's ~ author’s ~ user_name ~ user ~ name ~ snake_case ~ file_name.txt ~ /usr/local/bin ~
(rain) ~ (rain snow) ~ (rain or snow) hail ~ rain & snow ~ !rain ~ rain !snow ~ rain:* ~ umbrel ~
rain <-> snow ~ 'rain' ~ 'heavy rain' ~ parentheses ~ (parentheses) ~ {braces} ~ braces ~ [brackets] ~
brackets ~ hyphen-ated-word ~ hyphen ~ ated ~ self-driving ~ driving ~ iphone ~ iPhone 15 ~ iphones ~ apple ~
apple's ~ linux kernel ~ "linux kernel" ~ linux or kernel ~ linux -kernel ~ kernel -linux ~ 6.12 ~ emoji ~
tcp/ip ~ and/or ~ input/output ~ u.s. ~ us ~ u.s.a. ~ usa ~ uk ~ tea-time ~ tea time ~ "tea time" ~ stop ~ go ~
going ~ went ~ good ~ better ~ best ~ umbrella ~ umbrellas ~ rain | snow ~ a|b ~ rain||snow
"""
# By what is different, in the order of docs/api.md.
DIFFERENT = {
    "stop words": ("the rain", "-the", '"to be or not to be"', "Eins OR", "OR Eins", "Eins OR OR Zwei", "rain or the"),
    "stars": ("rai*", "umb*"),
    "typographic quotes": ("“heavy rain”", "«heavy rain»"),
    "joined words": ("example.org", "blog", "2.3", "covid 19", "tcp", "txt", "-7"),
    "accents": ("café", "cafe", "koln", "αθηνα", "canción"),
    "scripts without blanks": ("東京", "雨"),
    "emoji": ("☔",),
}


def test_searches_find_what_the_reference_finds(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, [])
    try:
        with reference_server() as reference:
            reference.call("POST", "/v1/import", alice.call("GET", "/v1/export").body)
            (there,) = reference.call("GET", "/v1/feeds")
            for number, (title, text) in enumerate(ENTRIES):
                entry = {"url": f"https://x.example/{number}", "title": title, "content": f"<p>{text}</p>"}
                alice.post(f"/v1/feeds/{feed['id']}/entries/import", entry)
                reference.call("POST", f"/v1/feeds/{there['id']}/entries/import", msgspec.json.encode(entry))
            alike = [query for line in ALIKE.split("~") if (query := line.strip())]
            different = [query for queries in DIFFERENT.values() for query in queries]
            theirs = {query: _found(reference, query) for query in (*alike, *different)}
    except ReferenceMissing as missing:
        pytest.skip(str(missing))
    ours = {query: _titles(alice.get("/v1/entries", search=query, limit=100)) for query in theirs}

    assert {query: ours[query] for query in alike} == {query: theirs[query] for query in alike}
    assert [query for query in different if ours[query] == theirs[query]] == []


def _found(reference: ReferenceServer, query: str) -> set[str]:
    return _titles(reference.call("GET", f"/v1/entries?{urlencode({'search': query, 'limit': 100})}"))


def _titles(answer: Any) -> set[str]:
    return {entry["title"] for entry in answer["entries"]}
