"""HTTP code shared by all surfaces: requests, routing, arguments of handlers, responses."""
