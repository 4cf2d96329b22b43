"""Services that the operator or a user runs, and that fetch what Tidings itself cannot.

rss_bridge    RSS-Bridge: discovery asks it for pages without a feed
rsshub        RSSHub: feeds at rsshub://…
flaresolverr  FlareSolverr: a browser that passes the challenges of sites, for feeds that are to be fetched through it
named_hosts   what such a service must not be asked for: hosts that the address guard refuses
bridge        the address of a service, and its failures as errors that name it
own_bridges   the bridges that users set up for themselves, which come before the operator's
"""
