"""Links, images, players, frames and formulas."""

from __future__ import annotations

import pytest

from content.cleaning.trees import PAGE, attributes_of, cleaned, tree
from tidings.content.cleaning import CleaningPolicy, clean, prefix_ids

DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
PNG = "data:image/png;base64,iVBORw0KGgo="


def test_a_link_sends_no_referrer() -> None:
    assert attributes_of(cleaned('<a href="/x" title="y" id="z" class="w" target="_self">a</a>'), "a") == {
        "href": "https://blog.example/x",
        "title": "y",
        "id": "user-content-z",
        "rel": "noopener noreferrer",
        "referrerpolicy": "no-referrer",
        "target": "_blank",
    }


def test_a_link_may_be_in_a_language_and_a_direction_of_its_own() -> None:
    for name, value in {"lang": "he", "dir": "rtl"}.items():
        assert attributes_of(cleaned(f'<a href="/x" {name}="{value}">a</a>'), "a")[name] == value


def test_links_open_in_the_same_tab_if_the_user_prefers_that() -> None:
    page = clean('<a href="/x">a</a>', base_url=PAGE, policy=CleaningPolicy(new_tab=False))
    assert "target" not in attributes_of(page, "a")


def test_ids_and_links_to_them_get_a_prefix() -> None:
    assert cleaned('<a href="#fn1">1</a><h2 id="fn1">x</h2>') == (
        '<a href="#user-content-fn1">1</a><h2 id="user-content-fn1">x</h2>'
    )


def test_a_link_to_the_top_stays_one() -> None:
    assert cleaned('<a href="#">1</a>') == '<a href="#">1</a>'


def test_articles_that_an_older_version_cleaned_get_the_prefix_where_they_are_shown() -> None:
    text = '&lt;p id="x"&gt; and id="y"'
    link = '<a title="&lt; id=&quot;q&quot;" id="body" href="#top">a</a>'
    stored = f'<p dir="ltr">{text}</p>{link}<h2 id="user-content-b">c</h2>'

    shown = prefix_ids(stored)

    assert shown == stored.replace('"body"', '"user-content-body"').replace('"#top"', '"#user-content-top"')
    assert prefix_ids(shown) == shown


@pytest.mark.parametrize("href", ["", " ", "javascript:alert(1)", "data:text/html,x", "http://[bad/", "foo:bar"])
def test_a_link_without_a_usable_url_is_text(href: str) -> None:
    assert cleaned(f'<a href="{href}">a <b>b</b></a>') == "a <b>b</b>"
    assert cleaned("<a name=x>a</a>") == "a"


@pytest.mark.parametrize(
    "address",
    [
        "https://api.flattr.com/x",
        "https://www.facebook.com/sharer.php?u=1",
        "http://feeds.feedburner.com/~ff/x?d=1",
        "http://rss.feedsportal.com/c/1",
        "https://www.linkedin.com/shareArticle?mini=true",
        "https://pinterest.com/pin/create/button/?url=x",
        "https://stats.wordpress.com/b.gif",
        "https://twitter.com/intent/tweet?text=x",
        "https://twitter.com/share?text=x",
        "https://x.com/intent/tweet?text=x",
        "https://x.com/share",
    ],
)
def test_share_buttons_and_counters_are_removed(address: str) -> None:
    assert cleaned(f'<a href="{address}">a<img src="{address}"></a>') == "a"


@pytest.mark.parametrize("path", ["someone/status/1", "shareholders", "i/events/1?u=/share"])
def test_a_plain_link_to_a_social_network_is_kept(path: str) -> None:
    assert "href" in attributes_of(cleaned(f'<a href="https://x.com/{path}">a</a>'), "a")


def test_images_are_loaded_lazily() -> None:
    html = '<img src="a.png" alt="" title="t" width="10" height="20" fetchpriority="low" decoding="async" class="c">'
    assert attributes_of(cleaned(html), "img") == {
        "src": "https://blog.example/posts/a.png",
        "alt": "",
        "title": "t",
        "width": "10",
        "height": "20",
        "fetchpriority": "low",
        "decoding": "async",
        "loading": "lazy",
    }


@pytest.mark.parametrize("size", ["100%", "0", "-5", "10px", "auto", "1e3"])
def test_the_size_of_a_picture_is_a_positive_number(size: str) -> None:
    assert "width" not in attributes_of(cleaned(f'<img src="a.png" width="{size}">'), "img")


@pytest.mark.parametrize("blanks", ["", " ", "\n" * 50])
def test_blanks_around_the_size_of_an_image_are_removed(blanks: str) -> None:
    assert attributes_of(cleaned(f'<img src="a.png" width="{blanks}640">'), "img")["width"] == "640"


@pytest.mark.parametrize(
    "pixel",
    [
        '<img src="a.gif" width="1" height="1">',
        '<img src="a.gif" width="0" height="1">',
        '<img src="a.gif" width="1px" height=" 1 ">',
        '<img src="a.gif" style="width: 1px; height: 1px">',
        f'<img src="{DOT}">',
        '<img src="">',
        "<img>",
        '<img src="data:text/html,x">',
        '<img src="javascript:x">',
    ],
)
def test_an_invisible_image_is_removed(pixel: str) -> None:
    assert cleaned(f"a{pixel}b") == "ab"


@pytest.mark.parametrize("minimum", ["min-width:100%", "max-width:100%;min-height: 1px", "MIN-WIDTH: 050px"])
def test_an_image_without_size_but_with_a_minimal_one_stays(minimum: str) -> None:
    assert "a.gif" in cleaned(f'<img src="a.gif" style="display:block;width:0;height:0;{minimum};margin:0">')
    assert cleaned('<img src="a.gif" style="width:0;height:0;min-width:0;max-width:9px">') == ""


@pytest.mark.parametrize("kind", ["png", "jpeg", "jpg", "gif", "webp", "avif", "apng", "svg+xml"])
def test_an_image_may_be_a_data_url(kind: str) -> None:
    assert attributes_of(cleaned(f'<img src="data:image/{kind};base64,AAAA">'), "img")["src"].startswith("data:")


@pytest.mark.parametrize(
    "html",
    [
        f'<a href="{PNG}">a</a>',
        f'<video poster="{PNG}"></video>',
        f'<source src="{PNG}">',
        f'<iframe src="{PNG}"></iframe>',
        f'<blockquote cite="{PNG}">a</blockquote>',
        f'<img srcset="{PNG} 2x">',
    ],
)
def test_other_elements_may_not_have_data_urls(html: str) -> None:
    assert "data:" not in cleaned(html)


@pytest.mark.parametrize(
    ("html", "src"),
    [
        ('<img data-src="/b.png">', "/b.png"),
        (f'<img src="{DOT}" data-src="/b.png">', "/b.png"),
        (f'<img src="{PNG}" data-original="/b.png">', "/b.png"),
        ('<img src="/img/blank.gif" data-lazy-src="/b.png">', "/b.png"),
        ('<img src="/img/tiny.png" class="lazyload" data-src="/b.png">', "/b.png"),
        ('<img src="/a.png" data-orig-file="/b.png">', "/a.png"),
        ('<img src="/a.png" data-src="{}" class="lazy">', "/a.png"),
        ('<img src="/a.png" data-src="javascript:x()" class="lazy">', "/a.png"),
        (f'<img src="{DOT}"><noscript><img src="/b.png"></noscript>', "/b.png"),
        ('<img src="/spacer.gif"> <noscript><img src="/b.png"></noscript>', "/b.png"),
        ('<img data-src="/b.png"><noscript><img src="/b.png?again"></noscript>', "/b.png"),
        ('<p>a</p><noscript><img src="/b.png"></noscript>', "/b.png"),
    ],
)
def test_lazy_images_get_their_final_url(html: str, src: str) -> None:
    page = cleaned(html)
    assert attributes_of(page, "img")["src"] == f"https://blog.example{src}"
    assert page.count("<img") == 1


@pytest.mark.parametrize(
    ("src", "stands_in"),
    [
        ("/blank.gif", True),
        ("blank.gif", True),
        ("/img/Spacer-2x.PNG?v=1", True),
        ("/lazy_load.svg#a", True),
        ("/img/big.placeholder.min.webp", True),
        ("/img/tiny.gif?file=/1x1.gif", True),
        ("/blank.gifs/tiny.png", False),
        ("/blank/tiny.png", False),
        ("/pixels.png", False),
        ("/point-blank", False),
        ("/pointblank.gif", False),
    ],
)
def test_a_placeholder_is_known_by_the_name_of_its_file(src: str, stands_in: bool) -> None:
    shown = attributes_of(cleaned(f'<img src="{src}" data-src="/b.png">'), "img")["src"]
    assert (shown == "https://blog.example/b.png") is stands_in


def test_lazy_srcset_candidates_are_used() -> None:
    page = cleaned(f'<picture><source data-srcset="/b.webp 2x"><img src="{DOT}" data-srcset="/b.png 2x"></picture>')
    assert attributes_of(page, "source")["srcset"] == "https://blog.example/b.webp 2x"
    assert attributes_of(page, "img")["srcset"] == "https://blog.example/b.png 2x"


def test_noscript_shows_pictures_that_can_be_seen_and_nothing_else() -> None:
    assert cleaned('a<noscript><img src="/t" width=1 height=1><p>b</p></noscript>c') == "ac"


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("a.png 1x, b.png 2x", "/posts/a.png 1x, /posts/b.png 2x"),
        ("a.png 100w,b.png 200w", "/posts/a.png 100w, /posts/b.png 200w"),
        ("a.png", "/posts/a.png"),
        ("a.png, b.png 1.5x", "/posts/a.png, /posts/b.png 1.5x"),
        (" , a,b.png  2x , ", "/posts/a,b.png 2x"),
        ("a.png 1x 2x, b.png 2x", "/posts/b.png 2x"),
        ("a.png -1x, b.png 0w, c.png 5q, d.png 2x", "/posts/d.png 2x"),
        ("a.png (1x, 2x), b.png 2x", "/posts/b.png 2x"),
        ("javascript:alert(1) 1x, b.png 2x", "/posts/b.png 2x"),
        ("a.png 1x, http://[bad 2x", "/posts/a.png 1x"),
    ],
)
def test_of_several_candidates_the_usable_ones_stay(srcset: str, expected: str) -> None:
    written = attributes_of(cleaned(f'<img src="x.png" srcset="{srcset}">'), "img")["srcset"]
    assert written.replace("https://blog.example", "") == expected


def test_without_a_usable_candidate_there_is_none() -> None:
    assert "srcset" not in attributes_of(cleaned('<img src="x.png" srcset="y.png 1q, data:x 2x">'), "img")


def test_players_have_controls() -> None:
    html = '<video src="a.mp4" poster="a.jpg" width=640 height=360 autoplay loop><source src="b.webm" type=video/webm>'
    page = cleaned(html + '</video><audio src="c.mp3" autoplay></audio>')
    assert attributes_of(page, "video") == {
        "src": "https://blog.example/posts/a.mp4",
        "poster": "https://blog.example/posts/a.jpg",
        "width": "640",
        "height": "360",
        "controls": "",
    }
    assert attributes_of(page, "source") == {"src": "https://blog.example/posts/b.webm", "type": "video/webm"}
    assert attributes_of(page, "audio") == {"src": "https://blog.example/posts/c.mp3", "controls": ""}


@pytest.mark.parametrize(
    ("src", "expected"),
    [
        ("https://www.youtube.com/embed/X?start=3", "https://www.youtube-nocookie.com/embed/X?start=3"),
        ("//youtube.com/embed/X", "https://www.youtube-nocookie.com/embed/X"),
        ("http://www.youtube-nocookie.com/embed/X", "https://www.youtube-nocookie.com/embed/X"),
        ("https://player.vimeo.com/video/1", "https://player.vimeo.com/video/1?dnt=1"),
        ("https://player.vimeo.com/video/1?h=2#t=3", "https://player.vimeo.com/video/1?h=2&dnt=1#t=3"),
        ("https://player.vimeo.com/video/1?dnt=1", "https://player.vimeo.com/video/1?dnt=1"),
        ("https://open.spotify.com/embed/episode/1", "https://open.spotify.com/embed/episode/1"),
        ("https://bandcamp.com/EmbeddedPlayer/1", "https://bandcamp.com/EmbeddedPlayer/1"),
        ("http://www.@Bandcamp.com:80/EmbeddedPlayer/1", "https://bandcamp.com/EmbeddedPlayer/1"),
        ("https://bandcamp.com?1", "https://bandcamp.com/?1"),
        ("https://videos.example/embed/1", "https://videos.example/embed/1"),
    ],
)
def test_players_of_known_hosts_are_framed(src: str, expected: str) -> None:
    policy = CleaningPolicy(embed_hosts=frozenset({"videos.example"}))
    html = (
        f'<iframe src="{src}" width="560" height="90%" frameborder="0" allowfullscreen onload="x" srcdoc="y"></iframe>'
    )
    frame = attributes_of(clean(html, base_url=PAGE, policy=policy), "iframe")
    assert frame.pop("src") == expected
    assert "allow-scripts" in frame.pop("sandbox").split()
    assert frame.pop("loading") == "lazy"
    frame.pop("referrerpolicy", None)
    assert frame == {"width": "560", "height": "90%", "frameborder": "0", "allowfullscreen": ""}


def test_a_player_that_needs_no_origin_gets_none() -> None:
    def sandbox(src: str) -> list[str]:
        return attributes_of(cleaned(f'<iframe src="{src}"></iframe>'), "iframe")["sandbox"].split()

    assert "allow-same-origin" in sandbox("https://www.youtube.com/embed/X")
    assert "allow-same-origin" not in sandbox("https://bandcamp.com/EmbeddedPlayer/1")


def test_frames_of_youtube_send_a_referrer() -> None:
    frame = attributes_of(cleaned('<iframe src="https://www.youtube.com/embed/X"></iframe>'), "iframe")
    assert frame["referrerpolicy"] == "strict-origin-when-cross-origin"


@pytest.mark.parametrize(
    "src",
    [
        "https://evil.example/embed/1",
        "https://sub.bandcamp.com/x",
        "https://youtube.com.evil.example/embed/X",
        "https://youtube.com@evil.example/embed/X",
        "https://evil.example/youtube.com/embed/X",
        "https://evil.example\\@youtube.com/embed/X",
        "javascript:alert(1)//youtube.com/embed",
        "data:text/html,youtube.com",
        "ftp://youtube.com/embed/X",
        "/embed/X",
        "",
    ],
)
def test_other_frames_are_removed(src: str) -> None:
    assert "<iframe" not in cleaned(f'a<iframe src="{src}">b</iframe>')


def test_the_reader_never_frames_itself() -> None:
    policy = CleaningPolicy(embed_hosts=frozenset({"reader.example"}), own_host="reader.example")
    assert clean('<iframe src="https://reader.example/x"></iframe>', base_url=PAGE, policy=policy) == ""


def test_lazy_frames_get_their_final_url() -> None:
    page = cleaned('<iframe src="about:blank" data-src="https://www.youtube.com/embed/X" class="lazy"></iframe>')
    assert attributes_of(page, "iframe")["src"] == "https://www.youtube-nocookie.com/embed/X"


def test_a_formula_stays() -> None:
    formula = (
        '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><semantics><mrow><msup><mi>x</mi><mn>2</mn>'
        '</msup><mo stretchy="false">=</mo><mfrac><mi mathvariant="bold">y</mi><msqrt><mn>3</mn></msqrt></mfrac>'
        "<mspace></mspace></mrow><annotation>x^2</annotation></semantics></math>"
    )
    assert tree(cleaned(formula)) == tree(formula)


@pytest.mark.parametrize(
    "html",
    [
        "<math><mtext><p>a</p><img src=x onerror=y></mtext></math>",
        "<math><annotation-xml encoding=text/html><p>a</p></annotation-xml></math>",
        "<math href=javascript:x><mi xlink:href=javascript:x actiontype=y onclick=z style=w class=v>a</mi></math>",
        "<math><mglyph></mglyph><malignmark></malignmark><svg><a>a</a></svg></math>",
        "<math><mi><!-- --><![CDATA[<p>]]></mi></math>",
    ],
)
def test_a_formula_holds_formulas_and_text_only(html: str) -> None:
    assert set(_names(tree(cleaned(html)))) <= {"math", "mtext", "mi", "annotation-xml"}
    assert "javascript" not in cleaned(html)


def _names(nodes: tuple[object, ...]) -> list[str]:
    found: list[str] = []
    for node in nodes:
        if isinstance(node, tuple):
            found += [node[0], *_names(node[2])]
    return found
