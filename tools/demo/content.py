"""Feeds that nobody publishes: plain data, written for pictures of Tidings.

An article without a body has its summary for one. `{picture:NAME}` becomes a picture that `pictures.py` draws.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Article(NamedTuple):
    """hours: how long ago. sound: minutes of an episode that comes with it. chapters: their seconds and titles."""

    title: str
    hours: float
    summary: str
    author: str = ""
    body: str = ""
    picture: str = ""
    sound: int = 0
    chapters: tuple[tuple[int, str], ...] = ()
    transcript: str = ""


class Feed(NamedTuple):
    """slug: in its URL. colour: of its icon."""

    slug: str
    title: str
    category: str
    colour: str
    articles: tuple[Article, ...]
    language: str = "en"


TIDES: Final = """
<p>Twice a day the sea comes up the river as far as the old mill, and twice a day it changes its mind. For six hundred
years nobody at Harrow Quay wrote down when. They looked. Then, in the spring of 1871, the harbour master's daughter
pinned a sheet of paper to the door of the chandlery, and everyone began to be late.</p>
<p>The sheet is still there, behind glass. It is a column of times in a small upright hand, corrected in pencil by
somebody who disagreed. <em>Low water, 4.12</em>, says the ink. <em>Nearer 4.20</em>, says the pencil. I have spent the
better part of a winter with the pencil.</p>
<figure>{picture:harbour}<figcaption>The quay at half tide, looking west. The mill is behind the second
headland.</figcaption></figure>
<h2>A machine made of brass and patience</h2>
<p>A tide is a sum. The moon pulls, the sun pulls less, the bed of the sea gets in the way, and each of them keeps its
own time. Write each as a wheel, join the wheels with one long wire, and the end of the wire will draw the height of the
water for any hour of any year that you care to wait for.</p>
<p>The machine at Harrow had ten wheels. It took a morning to set and an afternoon to turn, and its figures were good to
about the width of a hand. “It is not that the machine is right,” wrote Miss Ellery in her notebook:</p>
<blockquote><p>It is that it is wrong in the same way each time, and one may learn the way of a thing that is wrong
regularly. A boat is like this too, and so was my father.</p></blockquote>
<h2>What the pencil knew</h2>
<p>The pencil belonged to a lobsterman called Voss, who could not read and had the corrections made for him by his son.
He was right on 212 days of the 300 that I could check, and he was right <em>most often after a week of west wind</em>.
Wind piles the water up. No wheel on the machine stood for the wind.</p>
<table><thead><tr><th>Wind</th><th>Days</th><th>Ink nearer</th><th>Pencil nearer</th></tr></thead><tbody>
<tr><td>Calm</td><td>81</td><td>57</td><td>24</td></tr><tr><td>West</td><td>148</td><td>11</td><td>137</td></tr>
<tr><td>East</td><td>71</td><td>20</td><td>51</td></tr></tbody></table>
<p>She saw it, of course. In the autumn of the second year there is an eleventh column on the sheet, in ink, headed
<em>V.</em>, and from then on nobody was late.</p>
"""

QUEUE: Final = """
<p>We had a queue that was fast, and a dashboard that said so. What we did not have was an answer to the question a
customer asked on a Tuesday: <em>where is my message?</em></p>
<p>This is a note on replacing 4,000 lines with a table and an index, and on two things that we broke on the way.</p>
<h2>One row, one claim</h2>
<p>A worker takes what is due and says until when it means to have it. If it dies, the claim runs out and somebody else
takes over. There is no coordinator, since there is nothing to coordinate:</p>
<pre><code>UPDATE jobs
   SET held_by = :me, held_until = :now + :lease
 WHERE id IN (SELECT id FROM jobs
               WHERE due &lt;= :now AND held_until &lt; :now
               ORDER BY due LIMIT 20)
RETURNING id, payload;</code></pre>
<p>Everything interesting is in the length of the lease. Too short, and two workers do the same work. Too long, and a
crash costs minutes. We keep it at twice the slowest job we have ever seen, and renew it half way through.</p>
<h2>What we broke</h2>
<ul><li>Time. Two machines disagreed by nine seconds, and a lease of ten is a lease of one. Now the database tells the
time, and nobody else does.</li><li>Fairness. One customer with a million jobs was the only customer we had, for an
hour. The order is now by customer, then by age.</li></ul>
<p>The dashboard still says that it is fast. It also says <code>where</code>.</p>
"""

BREAD: Final = """
<p>Every recipe for rye begins by apologising for it. It will not rise as much as you like, it sticks to your hands, and
you may not eat it today. All true, and none of it a fault.</p>
{picture:loaf}
<p>Mix the sour in the evening: 200 g of rye flour, 200 g of water at body heat, a spoon of what you saved from the last
loaf. Cover it with a plate and think of something else for fourteen hours.</p>
<ol><li>In the morning it smells of apples. Add 300 g of flour, 220 g of water and 10 g of salt.</li>
<li>Stir with a wooden spoon for as long as a song takes. Do not knead; there is nothing to knead.</li>
<li>Into the tin, smooth it with a wet hand, and wait until small holes appear on top.</li>
<li>Fifteen minutes at 250 °C, forty-five at 200 °C.</li></ol>
<p>Then the hard part: wrap it in a cloth and leave it alone until tomorrow.</p>
"""

PIANO_CHAPTERS: Final = (
    (0, "A bakery at four in the morning"),
    (254, "Two hundred and thirty strings"),
    (1318, "The one that is wrong"),
    (2471, "Letters from listeners"),
)
PIANO_TRANSCRIPT: Final = """WEBVTT

00:00:01.000 --> 00:00:06.500
<v Noor>You hear it before you see it: one note, the same one, again and again.</v>

00:00:07.000 --> 00:00:12.000
<v Noor>Below us they are baking. Up here, it smells of felt and of bread.</v>

00:04:14.000 --> 00:04:21.000
<v Hanne>There are two hundred and thirty strings, and I know most of them by their faults.</v>

00:21:58.000 --> 00:22:04.000
<v Hanne>This one. Listen. It is not out of tune. It is tired.</v>
"""

FEEDS: Final = (
    Feed(
        "field-notes",
        "Field Notes from the Coast",
        "Essays",
        "#2f6f73",
        (
            Article(
                "The pencil and the tide machine",
                2.2,
                "A harbour, a sheet of paper and the one man who knew better.",
                "Marta Ellery",
                TIDES,
                "harbour",
            ),
            Article(
                "On keeping a list of birds you did not see",
                27,
                "Absence is data, if you write it down on the day.",
                "Marta Ellery",
            ),
            Article(
                "Eleven kinds of fog",
                75,
                "The pilots have a word for each, and they are right to.",
                "Jon Askwith",
                picture="fog",
            ),
            Article("A short defence of the long way round", 120, "What the coast road takes, and what it gives back."),
            Article("The lighthouse that was moved", 210, "Four hundred yards, in nineteen days, on rollers and soap."),
        ),
    ),
    Feed(
        "slow-kitchen",
        "The Slow Kitchen",
        "Essays",
        "#a8602f",
        (
            Article(
                "Rye, and the virtue of tomorrow",
                5.1,
                "A loaf that asks for patience and gives it back in slices.",
                "Ines Batista",
                BREAD,
                "loaf",
            ),
            Article("Beans are a calendar", 51, "What to soak in November, and why the pot should be too large."),
            Article(
                "The quiet art of a good stock",
                140,
                "Bones, an onion cut in half, and no clock in sight.",
                picture="pot",
            ),
            Article("Preserving lemons for people who forget", 260, "They keep for a year. So does the surprise."),
        ),
    ),
    Feed(
        "plain-systems",
        "Plain Systems",
        "Engineering",
        "#3b5b92",
        (
            Article(
                "Four thousand lines, replaced by a table",
                0.4,
                "A queue that can answer the only question anybody asks.",
                "Dana Okafor",
                QUEUE,
            ),
            Article("Delete the cache and see who complains", 22, "Nobody did, for three weeks. Then accounting did."),
            Article(
                "The index you already have", 48, "Reading a query plan out loud is an underrated way to review it."
            ),
            Article(
                "Errors are part of the interface", 96, "A message that tells you what to do is worth a page of manual."
            ),
            Article("Notes from a very boring migration", 170, "Boring took us two months of preparation."),
        ),
    ),
    Feed(
        "compiler-letters",
        "Compiler Letters",
        "Engineering",
        "#6b4a9c",
        (
            Article(
                "A parser that apologises", 1.3, "Recovering from mistakes without inventing new ones.", "R. Lindqvist"
            ),
            Article("Why we inline so little now", 31, "Code size was the bottleneck all along."),
            Article("Three ways to say the same loop", 80, "Two of them are equally fast, and one is readable."),
            Article("What the borrow checker taught our C", 190, "Ownership is a convention before it is a rule."),
        ),
    ),
    Feed(
        "small-web",
        "The Small Web Gazette",
        "Engineering",
        "#2c7a4b",
        (
            Article("A page that weighs nothing", 3.6, "Twelve kilobytes, and there is room for a photograph."),
            Article("Guestbooks are back, and they are kind", 44, "Moderation by being small enough."),
            Article(
                "Feeds, twenty-five years on",
                110,
                "Still the only part of the web where you decide.",
                picture="antenna",
            ),
            Article("How to leave a platform politely", 150, "Redirects, a forwarding note, and one long export."),
        ),
    ),
    Feed(
        "night-sky",
        "Night Sky Weekly",
        "Science",
        "#27406e",
        (
            Article(
                "Saturn tilts its rings away",
                0.9,
                "For a few weeks they are a line. Where to look, and when.",
                picture="saturn",
            ),
            Article("The comet that came back early", 18, "Eleven days, which is a lot for something so punctual."),
            Article(
                "Dark enough: a map of the north", 66, "Forty places without a street lamp, and how to reach them."
            ),
            Article(
                "What a cheap telescope can do in 2026", 130, "More than an expensive one could when you were a child."
            ),
        ),
    ),
    Feed(
        "river-lab",
        "River Lab",
        "Science",
        "#3a7d8c",
        (
            Article("Counting eels with sound", 7.5, "They are long, they are quiet, and they do not hold still."),
            Article("A dam comes down, and the gravel returns", 58, "Two winters were enough.", picture="river"),
            Article("Moss as a rain gauge", 105, "The cheapest instrument we have ever calibrated."),
        ),
    ),
    Feed(
        "open-hand",
        "The Open Hand",
        "Podcasts",
        "#b0463c",
        (
            Article(
                "Episode 84: The woman who repairs pianos",
                6.2,
                "Two hundred and thirty strings, and one that is wrong. A visit to a workshop above a bakery.",
                "Open Hand Radio",
                sound=48,
                chapters=PIANO_CHAPTERS,
                transcript=PIANO_TRANSCRIPT,
            ),
            Article(
                "Episode 83: Everything in its drawer",
                174,
                "An archivist on what to keep.",
                "Open Hand Radio",
                sound=39,
            ),
            Article(
                "Episode 82: The last ferry",
                342,
                "A crossing, told by the people who missed it.",
                "Open Hand Radio",
                sound=52,
            ),
        ),
    ),
    Feed(
        "stadtgang",
        "Stadtgang",
        "World",
        "#7a7a2e",
        (
            Article(
                "Der Kiosk an der Ecke macht weiter",
                4.4,
                "Nach vierzig Jahren übernimmt die Nachbarschaft den Laden.",
                "Jule Brandt",
            ),
            Article("Ein Brunnen für alle", 39, "Trinkwasser auf dem Platz, nach elf Jahren Papier."),
            Article("Was die Straßenbahn erzählt", 88, "Linie 7, von Endhalt zu Endhalt, an einem Regentag."),
        ),
        "de",
    ),
    Feed(
        "carnet",
        "Carnet de passage",
        "World",
        "#8c4a6b",
        (
            Article(
                "Le marché de l’aube",
                8.8,
                "Trois heures du matin, et déjà les pêches.",
                "Élise Moreau",
                picture="market",
            ),
            Article("Apprendre à lire une carte", 61, "Les plis disent où l’on est allé."),
        ),
        "fr",
    ),
    Feed(
        "morning-brief",
        "Morning Brief",
        "World",
        "#444444",
        (
            Article(
                "Night trains return to the northern line",
                0.2,
                "Eleven hours, one change fewer, and breakfast at the border.",
            ),
            Article("Cities agree on one plug for e-bikes", 1.9, "It took nine years and fits in a pocket."),
            Article("A library lends its one millionth ladder", 9.7, "The tool shelf has overtaken crime fiction."),
            Article("Harvest is early again", 25, "Growers bring the fair forward by a week."),
            Article("Parliament votes on quieter nights", 33, "The bill limits freight to daytime on eleven routes."),
            Article("Ferry timetable changes on Monday", 47, "Two sailings move, one is new."),
        ),
    ),
    Feed(
        "type-and-paper",
        "Type & Paper",
        "Essays",
        "#5a4634",
        (
            Article("Margins, measured", 12, "The white part of a page does most of the work."),
            Article(
                "A letter that took nine months to draw",
                71,
                "It is an ampersand, and it was worth it.",
                picture="letter",
            ),
            Article("In praise of ragged right", 160, "Even columns are a promise that words cannot keep."),
        ),
    ),
)
