"""The form with which an authenticator app is set up, among the settings and during a sign-in."""

from __future__ import annotations

from typing import Any

from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.sign_in.codes import totp
from tidings.sign_in.codes.second_factors import SecondFactors
from tidings.web.qr_codes import qr_code

_GROUP = 4


class AppForm(Form, frozen=True):
    secret: str = ""
    """As the page showed it."""
    code: str = ""
    """That the app shows now."""


def app_values(factors: SecondFactors, user: User, secret: str) -> dict[str, Any]:
    """Return what the form shows. secret: a new one is made if it is not one, such as after a broken form."""
    secret = secret if totp.is_secret(secret) else factors.new_secret()
    groups = " ".join(secret[start : start + _GROUP] for start in range(0, len(secret), _GROUP))
    address = factors.app_address(user, secret)
    return {"secret": secret, "shown_secret": groups, "app_address": address, "app_code": qr_code(address)}
