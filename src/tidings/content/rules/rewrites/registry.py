"""All rewrite rules by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tidings.base.messages import msg
from tidings.content.errors import InvalidRule
from tidings.content.rules.rewrite_syntax import RuleCall
from tidings.content.rules.rewrites import ghost_cards, images, links, text, video
from tidings.content.rules.rule_entry import RewriteAction

ActionBuilder = Callable[[tuple[str, ...]], RewriteAction]

WITHOUT_ARGUMENTS: Final[dict[str, RewriteAction]] = {
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
    "fix_ghost_cards": ghost_cards.fix_ghost_cards,
    "fix_medium_images": images.show_noscript_pictures,
    "nl2br": text.nl2br,
    "remove_clickbait": text.remove_clickbait,
    "remove_img_blur_params": images.remove_img_blur_params,
    "remove_tables": text.remove_tables,
    "use_noscript_figure_images": images.show_noscript_pictures,
}

# The number of arguments that each needs; further arguments are ignored.
WITH_ARGUMENTS: Final[dict[str, tuple[int, ActionBuilder]]] = {
    "base64_decode": (0, text.base64_decode),
    "remove": (1, text.remove),
    "replace": (2, text.replace_content),
    "replace_title": (2, text.replace_title),
}

NAMES: Final = frozenset(WITHOUT_ARGUMENTS) | frozenset(WITH_ARGUMENTS)


def build_action(call: RuleCall) -> RewriteAction:
    """Return the action of a call.

    Raises InvalidRule, without field and number, for an unknown name or missing arguments.
    """
    if call.name in WITHOUT_ARGUMENTS:
        return WITHOUT_ARGUMENTS[call.name]
    if call.name not in WITH_ARGUMENTS:
        raise InvalidRule(msg("There is no rewrite rule {name}.", name=repr(call.name[:60])))
    needed, build = WITH_ARGUMENTS[call.name]
    if len(call.arguments) < needed:
        raise InvalidRule(
            msg("{name} needs 1 argument in double quotes.", name=call.name)
            if needed == 1
            else msg("{name} needs {needed} arguments in double quotes.", name=call.name, needed=needed)
        )
    return build(call.arguments)
