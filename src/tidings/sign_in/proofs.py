"""Proofs that are not passwords, codes and answers of passkeys, checked within the throttle of all sign-ins."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from tidings.base.errors import InvalidInput, TidingsError
from tidings.domain.accounts.events import Method
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.services import Services
from tidings.services.accounts.authentication import Attempt
from tidings.sign_in.errors import ProofRefused
from tidings.web import cookies
from tidings.web.context import RequestContext

R = TypeVar("R")


async def verified(
    context: RequestContext, services: Services, method: Method, user: User | None, check: Callable[[], R]
) -> R:
    """Return what a check returns, which is run in a thread when its turn has come.

    user: None if it is not known who tries. Raises SignInThrottled, and ProofRefused if the check does.
    """
    browser = context.cookie(cookies.KNOWN)
    attempt = await asyncio.to_thread(
        services.accounts.authentication.begin_attempt, method, user=user, origin=context.origin, browser=browser
    )
    await asyncio.sleep(attempt.wait_s)
    return await asyncio.to_thread(_run, attempt, check)


def _run(attempt: Attempt, check: Callable[[], R]) -> R:
    try:
        result = check()
    except ProofRefused as error:
        attempt.failed(error.reason)
        raise
    except TidingsError:
        attempt.failed("not possible")
        raise
    attempt.succeeded()
    return result


def refusal(error: TidingsError) -> dict[str, Any]:
    """Return the status, the headers and the problem of the page that shows why a proof was not accepted."""
    if isinstance(error, SignInThrottled):
        problem = InvalidInput(error.text, field="code")
        return {"status": 429, "headers": {"Retry-After": str(error.retry_after_s)}, "problem": problem}
    return {"status": 400, "problem": error}
