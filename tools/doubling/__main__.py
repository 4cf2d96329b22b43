"""`python -m doubling [READER …]`: times every reader, or these, with every hostile text.

Each is a line of JSON; `found` says what was measured if the processor time grows faster than the text, else "".
"""

from __future__ import annotations

import json
import sys

from doubling.growth import findings, readers_named

for reader in readers_named(sys.argv[1:]):
    for text, found in findings(reader):
        print(json.dumps({"reader": reader.name, "text": text, "found": found}), flush=True)
