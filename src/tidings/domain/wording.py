"""Words for people, made where something is decided and shown wherever somebody looks.

They are English in the API, in the log and in the database. Pages say them in the language of their visitor
(`web.wording`): they know a message again by its shape, and put its values into the same message of a catalogue. So
all there is to do here is to say which strings are such messages. From what is annotated with `Words` (a parameter, a
member, a variable, what a function returns, the values of a dict) `make messages` collects the strings and f-strings,
with names for the values in them; a test says which of them it cannot read.
"""

from __future__ import annotations

from typing import TypeAlias

# Whole sentences, which may contain others, as "Rule 3: The expression is empty." does. `{name}` in a string that is
# no f-string is a value too, for `format`.
Words: TypeAlias = str
