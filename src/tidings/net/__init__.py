"""Outgoing HTTP to addresses that strangers choose: with limits, and never into the operator's own network.

    from tidings.net.fetch import Fetcher, FetchRequest, FetchSettings

    async with Fetcher(FetchSettings(user_agent="Example/1.0")) as fetcher:
        response = await fetcher.get(FetchRequest(url="https://example.org/feed.xml", etag=etag))
    if not response.not_modified:
        keep(response.body, response.etag)

fetch        Fetcher.get: a document, with redirects, validators, and limits on time and size
post         Sender: a request to a service that a user has configured; redirects are not followed
relay        MediaRelay: passes sounds and films on while they arrive
guard        parses URLs, and decides which addresses may be connected to and which hosts get credentials
connections  pools of connections behind the guard, through proxies, to careless servers; used by the first three
responses    decompresses bodies while they arrive; freshness, Retry-After, Link, cookies
own_health   asks the service on this machine whether it is ready
errors       FetchError and its kinds: each names the URL, and says what to do about it

It never connects to a private, loopback or link-local address unless told to, sends credentials to another host than
they were given for, holds a body beyond its limit in memory, or decides when to try again: an error says what the
server asked for. It knows no users, database or settings.
"""
