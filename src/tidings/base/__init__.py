"""What every library shares: small, without dependencies on the rest.

    from tidings.base.errors import InvalidInput
    from tidings.base.messages import msg

    raise InvalidInput(msg("The title is too long: at most {max} characters.", max=500), field="title")

errors        TidingsError, the root of all errors that someone can act on, and the errors that every part shares
messages      Message: a text in English with its values, translated where it is shown
times         Instant: microseconds since 1970 in UTC
text          checks and normal forms of short texts
url_schemes   which URL schemes are accepted, and which pages may link to
shortages     recognises errors that mean that this machine ran out of something
ipc           messages on pipes between processes

Nothing here opens a file or a connection, or reads a clock or a setting.
"""
