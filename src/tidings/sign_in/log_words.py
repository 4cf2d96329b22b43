"""The words in which pages show an entry of the log. What is stored is English, for programs."""

from __future__ import annotations

from typing import Final

from tidings.domain.accounts.events import EventKind, Method
from tidings.sign_in.limits_form import LABELS, limit_in_words
from tidings.web.language import N_, _

KINDS: Final = {
    EventKind.SIGNED_IN: N_("Signed in"),
    EventKind.REFUSED: N_("Refused"),
    EventKind.SIGNED_OUT: N_("Signed out"),
    EventKind.SESSION_ENDED: N_("A browser was signed out"),
    EventKind.SESSIONS_ENDED: N_("Browsers were signed out"),
    EventKind.PASSWORD_CHANGED: N_("Password changed"),
    EventKind.USER_CREATED: N_("Account created"),
    EventKind.USER_CHANGED: N_("Account changed"),
    EventKind.USER_REMOVED: N_("Account deleted"),
    EventKind.API_KEY_CREATED: N_("API key created"),
    EventKind.API_KEY_REMOVED: N_("API key deleted"),
    EventKind.API_PASSWORD_CREATED: N_("API password created"),
    EventKind.API_PASSWORD_REMOVED: N_("API password deleted"),
    EventKind.IDENTITY_LINKED: N_("Account of another service linked"),
    EventKind.IDENTITY_UNLINKED: N_("Account of another service unlinked"),
    EventKind.PASSKEY_ADDED: N_("Passkey added"),
    EventKind.PASSKEY_REMOVED: N_("Passkey deleted"),
    EventKind.FACTOR_ADDED: N_("Second factor added"),
    EventKind.FACTOR_REMOVED: N_("Second factor removed"),
    EventKind.INVITED: N_("Invitation made"),
    EventKind.INVITATION_REMOVED: N_("Invitation withdrawn"),
}
METHODS: Final = {
    Method.PASSWORD: N_("password"),
    Method.PASSKEY: N_("passkey"),
    Method.CODE: N_("one-time code"),
    Method.RECOVERY_CODE: N_("recovery code"),
    Method.OPENID: N_("account of another service"),
    Method.PROXY: N_("reverse proxy"),
    Method.API_KEY: N_("API key"),
    Method.API_PASSWORD: N_("API password"),
    Method.LINK: N_("link"),
    Method.COMMAND: N_("command line"),
}
# Details that users have not written themselves. Reasons that only experts can use stay as they are.
_DETAILS: Final = {
    EventKind.REFUSED: {
        "wrong name or password": N_("wrong name or password"),
        "wrong code": N_("wrong code"),
        "too many failures": N_("too many wrong attempts"),
        "needs a second step": N_("the password alone is not enough for apps"),
        "passwords are switched off": N_("passwords of accounts are switched off"),
        "unknown API key": N_("unknown key"),
        "unknown Fever key": N_("unknown key"),
        "unknown token": N_("unknown key"),
        "unknown link": N_("link was used, or is too old"),
        "unknown passkey": N_("unknown passkey"),
        "passkey of another user": N_("passkey of another account"),
        "passkey not accepted": N_("passkey not accepted"),
        "passkey without a verified user": N_("passkey without PIN, finger or face"),
        "passkey used under another address": N_("passkey used under another address"),
        "passkey challenge too old": N_("took too long"),
        "passkey answer used before": N_("used before"),
    },
    EventKind.USER_CREATED: {"administrator": N_("Administrator")},
    EventKind.FACTOR_ADDED: {
        "authenticator app": N_("Authenticator app"),
        "passkey after the password": N_("Passkey after the password"),
        "recovery codes": N_("Recovery codes"),
    },
    EventKind.SESSION_ENDED: {"signed out at the provider": N_("signed out at the provider")},
}
_FIELDS: Final = {
    "username": N_("Username"),
    "is_admin": N_("Administrator"),
    "allow_account_password_in_apps": N_("Apps may use the password of this account"),
    **LABELS,
}
_VALUES: Final = {
    "true": N_("yes"),
    "false": N_("no"),
    "default": N_("as usual here"),
}


def kind_in_words(kind: str, method: str) -> str:
    """Return what happened. method: the way in which the one who did it was signed in."""
    if kind == EventKind.INVITED and method == Method.COMMAND:
        return _("Link that signs in made")
    return _(KINDS[EventKind(kind)])


def detail_in_words(kind: str, detail: str) -> str:
    """Return the detail of an entry in the language of the page. What a user has written is left as it is."""
    if kind == EventKind.USER_CHANGED:
        return ", ".join(map(_change, detail.split(", ")))
    known = _DETAILS.get(EventKind(kind), {}).get(detail)
    return _(known) if known else detail


def methods_in_words(*methods: str) -> str:
    """Return ways of signing in, such as "password + one-time code"; "" if none is known."""
    return " + ".join(_(METHODS[method]) for text in methods if (method := Method.read(text)))


def _change(text: str) -> str:
    """Return a change of an account in words. text: such as "max_feeds: 12"."""
    name, _colon, value = text.partition(": ")
    if name not in _FIELDS:
        return text
    if name.startswith("max_") and value.isdigit():
        value = limit_in_words(int(value))
    return f"{_(_FIELDS[name])}: {_(_VALUES[value]) if value in _VALUES else value}"
