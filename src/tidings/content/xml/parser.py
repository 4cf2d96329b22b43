"""The XML parser for documents from outside: feeds, OPML and SVG."""

from __future__ import annotations

from lxml import etree


def xml_parser(*, recover: bool = False, huge: bool = False) -> etree.XMLParser:
    """Return a new parser, because lxml parsers must not be shared between threads.

    It loads nothing external, expands no entities, and drops comments and processing instructions. Depth is limited to
    2,048 levels with `huge`, else to 256. recover: reads on after an error. huge: does not limit the length of texts.
    """
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=huge,
        remove_comments=True,
        remove_pis=True,
    )
