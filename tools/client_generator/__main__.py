"""Write the files of the client: `make client`."""

from __future__ import annotations

import json

from client_generator import DOCUMENT, PACKAGE, generated

if __name__ == "__main__":
    for name, text in generated(json.loads(DOCUMENT.read_text(encoding="utf-8"))).items():
        path = PACKAGE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {path.name}")
