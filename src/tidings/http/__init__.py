"""HTTP code shared by the API and the pages: requests, routing, arguments of handlers, responses."""
