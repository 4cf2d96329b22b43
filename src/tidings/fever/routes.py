"""The endpoint of the Fever API: every request is one call with any number of queries and one mark."""

from __future__ import annotations

from tidings.fever import reads, state_changes
from tidings.fever.parameters import FeverCaller, Parameters
from tidings.fever.wire import FeverResponse
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.services import Services

# The paths of Miniflux, with and without the slash, and of FreshRSS.
FEVER_PATHS = ("/fever", "/fever/", "/api/fever.php", "/api/fever.php/")

routes = Routes("Fever API")


def fever(caller: FeverCaller, services: Services, request: Request) -> FeverResponse:
    """Apply the mark, then answer all queries from one state of the database.

    Without a known key the answer says so and nothing else. `api` need not be sent: elfeed-protocol leaves it out of
    marks, Readrops of all requests after its login.
    """
    if caller.login is None:
        return FeverResponse(auth=0)
    parameters = Parameters(request)
    if request.method != "HEAD":
        state_changes.apply(parameters, caller.login, services)
    return reads.answer(parameters, caller.login.user, services)


for _path in FEVER_PATHS:
    routes.get(_path)(fever)
    routes.post(_path)(fever)


FEVER_ROUTES = routes.all
