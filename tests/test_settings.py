"""What an operator writes becomes typed values, or one clear sentence."""

from __future__ import annotations

import dataclasses
import os
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidings import HOMEPAGE, __version__, settings
from tidings.base.errors import StartError
from tidings.settings import LogFormat, LogLevel, Settings


def load(**given: str) -> Settings:
    return settings.load({f"TIDINGS_{name}": text for name, text in given.items()})


def refusal(config: Path | None = None, /, **given: str) -> str:
    with pytest.raises(StartError) as refused:
        settings.load({f"TIDINGS_{name}": text for name, text in given.items()}, config)
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_the_defaults_are_loopback_and_an_embedded_database() -> None:
    found = settings.load({"HOME": "/home/alice", "PATH": "/bin"})

    assert str(found.listen_addr) == "127.0.0.1:8080"
    assert found.base_url == "http://127.0.0.1:8080"
    assert found.database_url == f"sqlite:///{found.data_dir}/tidings.db"
    assert found.polling_frequency == timedelta(hours=1)
    assert found.http_client_timeout == timedelta(seconds=20)
    assert found.http_client_max_body_size == 15 * 1024 * 1024
    assert not found.fetcher_allow_private_networks
    assert not found.integration_allow_private_networks
    assert found.admin_password is None
    assert 1 <= found.web_workers <= 4
    assert 1 <= found.worker_processes <= 2


@pytest.mark.parametrize(
    ("cores", "web_workers", "on_sqlite", "on_postgresql"), [(1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 2, 3), (16, 4, 2, 3)]
)
def test_the_default_number_of_processes_follows_the_cores(
    monkeypatch: pytest.MonkeyPatch, cores: int, web_workers: int, on_sqlite: int, on_postgresql: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: set(range(cores)))

    assert load().web_workers == web_workers
    assert load().worker_processes == on_sqlite
    assert load(DATABASE_URL="postgres://u@h/d").worker_processes == on_postgresql
    assert load(DATABASE_URL="postgres://u@h/d", WORKER_PROCESSES="5").worker_processes == 5


def test_the_default_user_agent_begins_like_a_browser_and_names_the_project() -> None:
    agent = f"Mozilla/5.0 (compatible; Tidings/{__version__}; +{HOMEPAGE})"

    assert load().http_client_user_agent == agent
    assert load(HTTP_CLIENT_USER_AGENT="Other/1").http_client_user_agent == "Other/1"


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        load().web_workers = 3  # type: ignore[misc]


def test_the_database_follows_the_data_folder(tmp_path: Path) -> None:
    found = load(DATA_DIR=str(tmp_path))

    assert found.database_file == tmp_path / "tidings.db"


def test_a_relative_folder_is_absolute_from_the_start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)

    assert load(DATA_DIR="here").data_dir == tmp_path / "here"
    assert load(DATABASE_URL="sqlite:///some.db").database_url == f"sqlite:///{tmp_path}/some.db"
    assert load(DATABASE_URL="sqlite:////srv/some.db").database_url == "sqlite:////srv/some.db"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "PostgreSQL"])
def test_several_url_schemes_mean_postgresql(scheme: str) -> None:
    found = load(DATABASE_URL=f"{scheme}://alice:s3cret@db.example.org:5433/tidings?sslmode=require")

    assert found.database_url == "postgresql://alice:s3cret@db.example.org:5433/tidings?sslmode=require"
    assert found.database_engine is settings.DatabaseEngine.POSTGRESQL
    assert found.database_file is None


def test_postgresql_can_be_reached_through_a_socket() -> None:
    assert load(DATABASE_URL="postgresql:///tidings?host=/run/postgresql").database_file is None


@pytest.mark.parametrize(
    ("written", "host", "port"),
    [
        ("0.0.0.0:80", "0.0.0.0", 80),
        (":9000", "", 9000),
        ("[::1]:8080", "::1", 8080),
        ("reader.example.org:443", "reader.example.org", 443),
    ],
)
def test_listen_addresses(written: str, host: str, port: int) -> None:
    assert load(LISTEN_ADDR=written).listen_addr == (host, port)


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("127.0.0.1:2424", ("127.0.0.1", 2424)),
        ("localhost:2424", ("127.0.0.1", 2424)),
        ("[::1]:2424", ("::1", 2424)),
        ("unix:/run/tidings/lmtp.sock", Path("/run/tidings/lmtp.sock")),
    ],
)
def test_letters_arrive_at_a_place_on_this_machine(written: str, place: object) -> None:
    assert load(NEWSLETTERS_LMTP=written).newsletters_lmtp == place


@pytest.mark.parametrize("written", ["0.0.0.0:2424", "10.0.0.1:2424", ":2424", "[::]:2424", "mx.example.org:24"])
def test_letters_arrive_nowhere_else(written: str) -> None:
    with pytest.raises(StartError, match=r"TIDINGS_NEWSLETTERS_LMTP .* other machines could connect"):
        load(NEWSLETTERS_LMTP=written)


@pytest.mark.parametrize("written", ["unix:", "/run/lmtp.sock", "127.0.0.1", "127.0.0.1:0"])
def test_a_place_for_letters_has_a_form(written: str) -> None:
    with pytest.raises(StartError, match=r"TIDINGS_NEWSLETTERS_LMTP .* cannot be used: .*allowed: unix:/path"):
        load(NEWSLETTERS_LMTP=written)


@pytest.mark.parametrize(
    ("listen", "base"),
    [
        (":9000", "http://localhost:9000"),
        ("[::]:9000", "http://localhost:9000"),
        ("[::1]:9000", "http://[::1]:9000"),
        ("10.1.2.3:80", "http://10.1.2.3:80"),
    ],
)
def test_the_default_base_url_can_be_opened_in_a_browser(listen: str, base: str) -> None:
    assert load(LISTEN_ADDR=listen).base_url == base


@pytest.mark.parametrize("written", ["https://example.org/reader/", "https://example.org/reader"])
def test_the_base_url_may_carry_a_path(written: str) -> None:
    found = load(BASE_URL=written)

    assert found.base_url == "https://example.org/reader"
    assert found.base_path == "/reader"
    assert load(BASE_URL="https://example.org/").base_path == ""


def test_values_have_their_types() -> None:
    found = load(
        POLLING_FREQUENCY="1",
        LOG_LEVEL="Debug",
        LOG_FORMAT="json",
        FETCHER_ALLOW_PRIVATE_NETWORKS="Yes",
        INTEGRATION_ALLOW_PRIVATE_NETWORKS="off",
        TRUSTED_REVERSE_PROXY_NETWORKS="10.0.0.0/8, 192.0.2.7",
    )

    assert found.polling_frequency == timedelta(minutes=1)
    assert found.log_level is LogLevel.DEBUG
    assert found.log_format is LogFormat.JSON
    assert found.fetcher_allow_private_networks is True
    assert found.integration_allow_private_networks is False
    assert found.trusted_reverse_proxy_networks == (ip_network("10.0.0.0/8"), ip_network("192.0.2.7/32"))
    assert load(TRUSTED_REVERSE_PROXY_NETWORKS="none").trusted_reverse_proxy_networks == ()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("LISTEN_ADDR", "8080"),
        ("LISTEN_ADDR", "::1:8080"),
        ("LISTEN_ADDR", "localhost:0"),
        ("LISTEN_ADDR", "localhost:70000"),
        ("LISTEN_ADDR", "[nonsense]:80"),
        ("LISTEN_ADDR", "a b:80"),
        ("BASE_URL", "reader.example.org"),
        ("BASE_URL", "ftp://example.org"),
        ("BASE_URL", "https://example.org/?a=b"),
        ("BASE_URL", "https://example.org:port/"),
        ("WEB_WORKERS", "many"),
        ("WEB_WORKERS", "0"),
        ("WEB_WORKERS", "-1"),
        ("WEB_WORKERS", "1.5"),
        ("WEB_WORKERS", "٣"),
        ("POLLING_FREQUENCY", "0"),
        ("HTTP_CLIENT_TIMEOUT", "20s"),
        ("HTTP_CLIENT_MAX_BODY_SIZE", "0"),
        ("HTTP_CLIENT_USER_AGENT", "one\r\nCookie: two"),
        ("FETCHER_ALLOW_PRIVATE_NETWORKS", "maybe"),
        ("TRUSTED_REVERSE_PROXY_NETWORKS", "10.0.0.0/99"),
        ("ADMIN_USERNAME", "al ice"),
        ("LOG_LEVEL", "loud"),
        ("LOG_FORMAT", "xml"),
    ],
)
def test_a_malformed_value_is_named_with_what_is_allowed(name: str, text: str) -> None:
    message = refusal(**{name: text})

    assert f"TIDINGS_{name} " in message
    assert ascii(text) in message
    assert "allowed: " in message


@pytest.mark.parametrize(
    "url",
    [
        "mysql://alice:hunter2@db/tidings",
        "hunter2",
        "postgresql://alice:hun#ter2@db/tidings",
        "postgresql://alice:hunter2@db",
        "postgresql://alice:hunter2@db:port/tidings",
        "sqlite://hunter2",
        "sqlite:///:memory:",
        "sqlite:///hunter2?mode=ro",
    ],
)
def test_the_value_of_a_secret_is_never_in_a_message(url: str) -> None:
    message = refusal(DATABASE_URL=url)

    assert "TIDINGS_DATABASE_URL" in message
    assert "hun" not in message
    assert "sqlite:///" in message
    assert "postgresql://" in message


def test_a_secret_is_not_in_the_printed_form_of_the_settings() -> None:
    shown = repr(load(DATABASE_URL="postgresql://alice:hunter2@db/tidings", ADMIN_PASSWORD="correct horse"))

    assert "hunter2" not in shown
    assert "horse" not in shown


def test_a_mailbox_of_newsletters_is_written_as_a_url() -> None:
    needed = {"NEWSLETTERS_IMAP_PASSWORD": "hunter2", "NEWSLETTERS_ADDRESS": "news+{secret}@example.org"}

    def read(url: str) -> object:
        return load(NEWSLETTERS_IMAP_URL=url, **needed).newsletters_imap_url

    assert read("imaps://news@mail.example.org") == ("mail.example.org", 993, True, False, "news", "INBOX")
    assert read("imaps://a%40b.org@[::1]:99/Gro%C3%9Fe%20See/A") == ("::1", 99, True, False, "a@b.org", "Große See/A")
    assert read("imap+starttls://news@mail.example.org") == ("mail.example.org", 143, True, True, "news", "INBOX")
    assert read("imap://news@localhost/x") == ("localhost", 143, False, False, "news", "x")
    for url in ("https://news@mail.example.org", "imaps://mail.example.org", "imaps://news@", "imaps://news@x/y?z"):
        assert "TIDINGS_NEWSLETTERS_IMAP_URL" in refusal(NEWSLETTERS_IMAP_URL=url, **needed)
    message = refusal(NEWSLETTERS_IMAP_URL="imaps://news:hunter2@mail.example.org", **needed)
    assert "the password belongs into TIDINGS_NEWSLETTERS_IMAP_PASSWORD" in message
    assert "hunter2" not in message


def test_half_a_mailbox_of_newsletters_is_refused() -> None:
    url = "imaps://news@mail.example.org"
    assert "needs TIDINGS_NEWSLETTERS_IMAP_PASSWORD and TIDINGS_NEWSLETTERS_ADDRESS" in refusal(
        NEWSLETTERS_IMAP_URL=url
    )
    assert "no effect without TIDINGS_NEWSLETTERS_IMAP_URL" in refusal(NEWSLETTERS_IMAP_PASSWORD="hunter2")


def test_an_unknown_setting_stops_the_start_and_hints_at_the_nearest() -> None:
    assert "did you mean TIDINGS_LISTEN_ADDR?" in refusal(LISTEN_ADDRESS="127.0.0.1:80")
    assert "did you mean" not in refusal(ZZZ="1")


@pytest.mark.parametrize("name", ["DATABASE_READ_URL", "DATABASE_READ_URL_FILE"])
def test_a_setting_that_was_removed_stops_the_start_and_says_what_to_do(name: str) -> None:
    said = refusal(**{name: "postgresql://alice:hunter2@replica/tidings"})

    assert said.startswith(f"TIDINGS_{name} (from the environment) is no longer a setting; remove it: ")
    assert "hunter2" not in said


def test_a_secret_can_come_from_a_file(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse \n", encoding="utf-8")

    assert load(ADMIN_PASSWORD_FILE=str(secret)).admin_password == "correct horse "


def test_only_secrets_can_be_read_from_a_file() -> None:
    assert "TIDINGS_WEB_WORKERS_FILE" in refusal(WEB_WORKERS_FILE="/etc/hostname")


def test_a_setting_and_its_file_cannot_both_be_set(tmp_path: Path) -> None:
    secret = tmp_path / "password"
    secret.write_text("correct horse", encoding="utf-8")

    message = refusal(ADMIN_PASSWORD="battery staple", ADMIN_PASSWORD_FILE=str(secret))

    assert "TIDINGS_ADMIN_PASSWORD and TIDINGS_ADMIN_PASSWORD_FILE" in message
    assert "staple" not in message


def test_a_secret_file_that_is_missing_or_empty_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()

    assert "No such file" in refusal(ADMIN_PASSWORD_FILE=str(tmp_path / "missing"))
    assert "empty" in refusal(ADMIN_PASSWORD_FILE=str(tmp_path / "empty"))
    assert "cannot be read" in refusal(ADMIN_PASSWORD_FILE=str(tmp_path))


def test_an_empty_value_counts_as_not_set() -> None:
    assert load(ADMIN_PASSWORD="", WEB_WORKERS="", LOG_LEVEL="") == load()


def config(folder: Path, text: str) -> Path:
    path = folder / "tidings.conf"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_may_hold_settings_with_or_without_the_prefix(tmp_path: Path) -> None:
    path = config(tmp_path, "# mine\n\nWEB_WORKERS = 3\nTIDINGS_LOG_FORMAT=json\r\nHTTP_CLIENT_USER_AGENT='me # 2'\n")

    found = settings.load({}, path)

    assert (found.web_workers, found.log_format, found.http_client_user_agent) == (
        3,
        LogFormat.JSON,
        "me # 2",
    )
    assert settings.load({"TIDINGS_CONFIG": str(path)}) == found


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    path = config(tmp_path, "WEB_WORKERS=3\nADMIN_PASSWORD_FILE=/nowhere\n")

    found = settings.load({"TIDINGS_WEB_WORKERS": "2", "TIDINGS_ADMIN_PASSWORD": "correct horse"}, path)

    assert (found.web_workers, found.admin_password) == (2, "correct horse")


def test_errors_in_the_file_have_line_numbers(tmp_path: Path) -> None:
    assert "line 2" in refusal(config(tmp_path, "WEB_WORKERS=3\nWEB_WORKER=3\n"))
    assert "did you mean TIDINGS_WEB_WORKERS?" in refusal(config(tmp_path, "WEB_WORKER=3\n"))
    assert "line 3" in refusal(config(tmp_path, "\n\nWEB_WORKERS=many\n"))
    assert "line 1" in refusal(config(tmp_path, "just words\n"))
    assert "line 2" in refusal(config(tmp_path, "WEB_WORKERS=3\nTIDINGS_WEB_WORKERS=4\n"))


def test_a_settings_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")

    assert "No such file" in refusal(tmp_path / "missing")
    assert str(binary) in refusal(binary)


def test_the_origin_of_each_value_is_known(tmp_path: Path) -> None:
    path = config(tmp_path, "WEB_WORKERS=3\n")

    found = settings.load_with_origins(
        {"TIDINGS_LOG_LEVEL": "error", "TIDINGS_DATABASE_URL": "postgres://alice:hunter2@db/tidings"}, path
    )

    assert found.origins["web_workers"] == f"{path}, line 1"
    assert found.origins["log_level"] == "the environment"
    assert found.origins["log_format"] == "default"
    assert found.shown["log_level"] == "error"
    assert found.shown["log_format"] == "text"
    assert found.shown["database_url"] == "postgres://alice:***@db/tidings"
    assert found.shown["admin_password"] is None


def test_a_file_named_on_the_command_line_is_found_by_child_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDINGS_CONFIG", "/nowhere")
    monkeypatch.chdir(tmp_path)
    config(tmp_path, "WEB_WORKERS=3\n")

    settings.load_process(Path("tidings.conf"))

    assert settings.load({"TIDINGS_CONFIG": os.environ["TIDINGS_CONFIG"]}).web_workers == 3
    assert Path(os.environ["TIDINGS_CONFIG"]).is_absolute()


@pytest.mark.slow
@example(name="TIDINGS_DATA_DIR", text="a?b")
@given(name=st.sampled_from([option.name for option in settings.OPTIONS]), text=st.text(min_size=1))
def test_any_value_is_accepted_or_refused_in_one_line(name: str, text: str) -> None:
    message = ""
    try:
        settings.load({name: text})
    except StartError as refused:
        message = str(refused)

    assert message == "" or name in message
    assert message.isprintable()


def test_every_declared_setting_is_named_after_its_field() -> None:
    assert {option.field for option in settings.OPTIONS} == {field.name for field in dataclasses.fields(Settings)}


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://alice:p@ss:w@db/tidings", "postgresql://alice:***@db/tidings"),
        ("postgresql://alice@db/tidings", "postgresql://alice@db/tidings"),
        ("postgresql://db/tidings?user=a&password=b&x=y", "postgresql://db/tidings?user=a&password=***&x=y"),
        ("postgresql://db/tidings?user=a:b@c", "postgresql://db/tidings?user=a:b@c"),
        ("sqlite:////srv/tidings.db", "sqlite:////srv/tidings.db"),
    ],
)
def test_a_database_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert settings.mask_password(url) == shown
