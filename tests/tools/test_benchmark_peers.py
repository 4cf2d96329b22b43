"""Benchmarks measure the other feed readers that are there, and say which are not."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from xml.etree import ElementTree as ET

import pytest
from benchmarks import app_race, load, peers, polling
from benchmarks.app_race import Figures
from benchmarks.freshrss import FRESHRSS, FreshRss
from benchmarks.library import READER
from benchmarks.peers import OURS, Options
from benchmarks.plots import COLORS, write_bars
from benchmarks.polling import FIRST_FETCH, MIN_SPEEDUPS, Measurement
from benchmarks.reference import REFERENCE

SVG = "{http://www.w3.org/2000/svg}"
SQLITE, POSTGRESQL = OURS.values()


def test_without_options_no_other_feed_reader_is_named() -> None:
    assert peers.parse([], program="bench", has_turns=True) == Options()


def test_options_name_the_other_feed_readers() -> None:
    arguments = ["--freshrss", "/srv/freshrss", "--reader", "/opt/reader/bin/python", "--turns", "2", "--apps-only"]

    found = peers.parse(arguments, program="bench", has_turns=True)

    assert found == Options(Path("/srv/freshrss"), "/opt/reader/bin/python", 2, is_apps_only=True)


@pytest.mark.parametrize("arguments", [["--turns", "0"], ["--turns", "many"], ["--freshrss"], ["--rss", "x"]])
def test_an_option_that_is_not_right_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        peers.parse(arguments, program="bench", has_turns=True)
    assert "error" in capsys.readouterr().err


def test_a_benchmark_without_turns_refuses_them() -> None:
    with pytest.raises(SystemExit):
        peers.parse(["--turns", "3"], program="bench")


def test_each_feed_reader_that_is_not_there_gets_a_line(tmp_path: Path) -> None:
    there = peers.found(Options(snapshot=tmp_path, python=str(tmp_path / "python")))

    lines = peers.missing_lines(there).splitlines()
    assert (there.freshrss, there.reader) == (None, None)
    assert f"({FRESHRSS} is left out: {tmp_path} is not a snapshot of it)" in lines
    assert f"({READER} is left out: {tmp_path / 'python'} cannot be started: No such file or directory)" in lines


def test_without_a_snapshot_the_line_says_how_to_give_one() -> None:
    there = peers.found(Options(python=sys.executable))

    assert f"({FRESHRSS} is left out: no snapshot was given: --freshrss PATH)" in peers.missing_lines(there)


def test_the_version_of_a_snapshot_is_read_from_it(tmp_path: Path) -> None:
    (tmp_path / "constants.php").write_text("<?php\nconst FRESHRSS_VERSION = '1.25.0-dev';\n")

    assert FreshRss(tmp_path, tmp_path / "data").version == "1.25.0-dev"


class FakeRacer:
    """A feed reader that writes down what it is asked for."""

    def __init__(self, name: str, rate: float, cases: Sequence[str], asked: list[str]) -> None:
        self.name, self.cases = name, cases
        self._rate, self._asked = rate, asked

    def rate(self, case: str) -> float:
        self._asked.append(f"{self.name} {case}")
        return self._rate

    def sync(self) -> float:
        return 100 / self._rate

    def restore(self) -> None:
        self._asked.append(f"{self.name} restored")


def test_feed_readers_take_turns_where_they_have_a_case(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[str] = []
    racers = [
        FakeRacer(SQLITE, 100.0, [app_race.COUNTS, app_race.UNREAD], asked),
        FakeRacer(READER, 40.0, [app_race.UNREAD], asked),
    ]

    found = app_race.race(racers, turns=2)

    turn = [f"{SQLITE} {app_race.UNREAD}", f"{READER} {app_race.UNREAD}"]
    counted = [f"{SQLITE} {app_race.COUNTS}"] * 2
    assert asked == [*counted, *turn, *turn, f"{SQLITE} restored", f"{READER} restored"]
    assert found[1] == Figures(READER, {app_race.UNREAD: [40.0, 40.0]}, 2.5)
    lines = capsys.readouterr().out.splitlines()
    assert "reader 40.0 (2.5 times, 2.5 to 2.5)" in lines[2]
    assert "reader" not in lines[1]
    assert lines[3].split() == ["first", "sync", "1.0", "s", "reader", "2.5", "s"]


def test_the_plot_of_apps_has_one_bar_for_a_feed_reader_measured_twice() -> None:
    measured = [
        Figures(SQLITE, {app_race.STAR: [9.0, 8.0, 10.0]}, 1.0),
        Figures(FRESHRSS, {app_race.STAR: [1.0, 2.0]}, 1.0),
        Figures(POSTGRESQL, {app_race.STAR: [5.0]}, 1.0),
        Figures(FRESHRSS, {app_race.STAR: [3.0]}, 1.0),
    ]

    names, groups = app_race.bars(measured)

    assert names == [SQLITE, FRESHRSS, POSTGRESQL]
    assert [list(one.values) for one in groups if one.name == app_race.STAR] == [[9.0, 2.0, 5.0]]
    assert [list(one.values) for one in groups if one.name == app_race.MARK] == [[None, None, None]]


def polled(took_s: float, *, missing: int = 0, feeds: int = 500) -> Measurement:
    return Measurement(dict.fromkeys(MIN_SPEEDUPS, took_s), missing, feeds)


def test_the_table_of_polling_compares_rates_of_different_numbers_of_feeds() -> None:
    found = {SQLITE: polled(1), POSTGRESQL: polled(1), REFERENCE: polled(10, feeds=100), FRESHRSS: polled(4, feeds=20)}

    lines = polling.table(found).splitlines()

    (ours,) = (line for line in lines if SQLITE in line and FIRST_FETCH in line)
    (other,) = (line for line in lines if line.strip().startswith(FRESHRSS) and FIRST_FETCH in line)
    assert ours.split()[4:] == ["500", "feeds", "1.00", "s", "500", "15000", "50.00", "times", "the", "reference"]
    assert other.split()[3:] == ["20", "feeds", "4.00", "s", "5", "150", "0.50", "times", "the", "reference"]
    assert not any("too slow" in line for line in lines)
    assert any("actualize_script.php" in line for line in lines)


def test_the_table_of_polling_names_what_is_missing_and_too_slow() -> None:
    found = {SQLITE: polled(100), POSTGRESQL: polled(1, missing=7), REFERENCE: polled(10, feeds=100)}

    table = polling.table(found)

    assert f"too slow: {SQLITE}, {FIRST_FETCH}: 0.5 times the reference, not 6" in table
    assert f"too slow: {POSTGRESQL}" not in table
    assert "7 entries are missing" in table


def test_without_the_reference_the_table_of_polling_has_rates_only() -> None:
    table = polling.table({SQLITE: polled(1), POSTGRESQL: polled(1), READER: polled(5, feeds=50)})

    assert "times" not in table
    assert "library without HTTP" in table


def test_a_plot_has_a_colored_name_for_each_of_five_feed_readers(tmp_path: Path) -> None:
    names = [SQLITE, POSTGRESQL, REFERENCE, FRESHRSS, READER]
    _, groups = app_race.bars([Figures(name, {app_race.STAR: [n + 1.0]}, 1.0) for n, name in enumerate(names)])
    write_bars(tmp_path / "bars.svg", title="rates", engines=names, groups=[one for one in groups if any(one.values)])

    drawing = ET.parse(tmp_path / "bars.svg").getroot()
    legend = [(text.text, text.get("fill")) for text in drawing.iter(f"{SVG}text") if text.get("fill")]
    bars = [bar.get("fill") for bar in drawing.iter(f"{SVG}rect") if bar.get("fill") in COLORS]
    assert legend == list(zip(names, COLORS, strict=True))
    assert bars == list(COLORS)
    height = float(drawing.attrib["viewBox"].split()[3])
    assert all(float(bar.get("y", "0")) < height for bar in drawing.iter(f"{SVG}rect"))


def test_bodies_that_differ_are_sent_by_turns() -> None:
    request = load.Request("http://127.0.0.1:1/", "POST", {}, ("a=1", "r=1"))

    assert '{"a=1", "r=1"}' in load.wrk_script(request)
    assert "function request" not in load.wrk_script(load.Request("http://127.0.0.1:1/"))


def test_threads_send_bodies_by_turns_and_count_the_responses(monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[bytes] = []

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(204 if self.path == "/right?n=1" else 500)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Print nothing."""

    monkeypatch.setattr(load, "TURN_S", 0.1)
    monkeypatch.setattr(load, "CONNECTIONS", 1)
    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        try:
            assert load._rate_of_threads(load.Request(f"{url}/right?n=1", "POST", {}, ("a", "b"), 204)) > 0
            with pytest.raises(AssertionError):
                load._rate_of_threads(load.Request(f"{url}/wrong", "POST", {}, ("a",), 204))
        finally:
            server.shutdown()
            thread.join()
    assert received[0] == received[-1] == b"a"
    assert len(received) == 2 or received[1] == b"b"
