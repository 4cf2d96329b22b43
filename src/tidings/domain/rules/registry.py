"""Every rewrite rule by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tidings.domain.errors import InvalidRule
from tidings.domain.rules import cards, images, links, text, video
from tidings.domain.rules.draft import Action
from tidings.domain.rules.syntax import Call

Builder = Callable[[tuple[str, ...]], Action]

PLAIN: Final[dict[str, Action]] = {
    "add_castopod_episode": video.add_castopod_episode,
    "add_dynamic_iframe": video.add_dynamic_iframe,
    "add_dynamic_image": images.add_dynamic_image,
    "add_enclosure_links": links.add_enclosure_links,
    "add_hn_links_using_hack": links.add_hn_links_using_hack,
    "add_hn_links_using_opener": links.add_hn_links_using_opener,
    "add_image_title": images.add_image_title,
    "add_invidious_video": video.add_invidious_video,
    "add_mailto_subject": links.add_mailto_subject,
    "add_pdf_download_link": links.add_pdf_download_link,
    "add_youtube_video": video.add_youtube_video,
    "add_youtube_video_from_id": video.add_youtube_video_from_id,
    "add_youtube_video_using_invidious_player": video.add_youtube_video_using_invidious_player,
    "convert_text_link": links.convert_text_links,
    "convert_text_links": links.convert_text_links,
    "fix_ghost_cards": cards.fix_ghost_cards,
    "fix_medium_images": images.show_noscript_pictures,
    "nl2br": text.nl2br,
    "remove_clickbait": text.remove_clickbait,
    "remove_img_blur_params": images.remove_img_blur_params,
    "remove_tables": text.remove_tables,
    "use_noscript_figure_images": images.show_noscript_pictures,
}

# With how many arguments each needs; what is sent beyond that is ignored.
WITH_ARGUMENTS: Final[dict[str, tuple[int, Builder]]] = {
    "base64_decode": (0, text.base64_decode),
    "remove": (1, text.remove),
    "replace": (2, text.replace_content),
    "replace_title": (2, text.replace_title),
}

NAMES: Final = frozenset(PLAIN) | frozenset(WITH_ARGUMENTS)


def action_for(call: Call) -> Action:
    """InvalidRule, without field and number, for an unknown name and for arguments that do not fit."""
    if call.name in PLAIN:
        return PLAIN[call.name]
    if call.name not in WITH_ARGUMENTS:
        raise InvalidRule(f"There is no rewrite rule {call.name[:60]!r}.")
    needed, build = WITH_ARGUMENTS[call.name]
    if len(call.arguments) < needed:
        raise InvalidRule(
            f"{call.name} needs 1 argument in double quotes."
            if needed == 1
            else f"{call.name} needs {needed} arguments in double quotes."
        )
    return build(call.arguments)
