"""The page on which users choose the keys of pages."""

from __future__ import annotations

from collections.abc import Mapping

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.shortcuts import (
    DEFAULT_SHORTCUTS,
    KeyProblem,
    Shortcuts,
    key_problems,
    shortcuts_text,
    user_shortcuts,
)
from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.message_translation import translated
from tidings.web.shortcuts import GROUPS, LABELS, key_of, sign

routes = Routes()


@routes.get("/settings/shortcuts")
def show_shortcuts(caller: User) -> PageResponse:
    return _page(user_shortcuts(caller.shortcuts))


@routes.post("/settings/shortcuts")
def change_shortcuts(context: RequestContext, services: Services) -> PageResponse | Redirect:
    """Save the keys of all commands.

    The field `default` shows the default keys of the command that it names, `all-defaults` saves those of all commands.
    """
    sent = dict(forms.fields(context.request))
    shortcuts = _sent_shortcuts(sent)
    if sent.get("default") in DEFAULT_SHORTCUTS:
        return _page({**shortcuts, sent["default"]: DEFAULT_SHORTCUTS[sent["default"]]})
    text = "" if "all-defaults" in sent else shortcuts_text(shortcuts)
    try:
        services.accounts.users.update(context.caller, context.caller.id, {"shortcuts": text}, origin=context.origin)
    except InvalidInput:
        return _page(shortcuts, status=400)
    return Redirect("/settings/shortcuts", notice=_("Saved."))


def _sent_shortcuts(sent: Mapping[str, str]) -> Shortcuts:
    return {
        command: tuple(dict.fromkeys(key_of(typed) for typed in sent.get(command, "").split()))
        for command in DEFAULT_SHORTCUTS
    }


def _page(shortcuts: Shortcuts, *, status: int = 200) -> PageResponse:
    values = {
        "title": _("Keyboard shortcuts"),
        "groups": GROUPS,
        "typed": {command: _typed(keys) for command, keys in shortcuts.items()},
        "defaults": {command: _typed(keys) for command, keys in DEFAULT_SHORTCUTS.items()},
        "key_problems": {problem.command: _problem_text(problem) for problem in reversed(key_problems(shortcuts))},
    }
    return PageResponse("settings/shortcuts.html", values, status)


def _typed(keys: tuple[str, ...]) -> str:
    return " ".join(sign(key) for key in keys)


def _problem_text(problem: KeyProblem) -> str:
    if not problem.other:
        return translated(problem.text)
    return _("%(key)s is already used for: %(command)s", key=sign(problem.key), command=_(LABELS[problem.other]))
