"""Creates users with due feeds in the database, without fetching the feeds."""

from __future__ import annotations

from support.people import PASSWORD
from tidings.storage.feeds import categories, feeds
from tidings.wiring.services import AllServices


def subscribed(services: AllServices, username: str, *urls: str) -> int:
    """Create a user with these feeds and return the id of the user."""
    user = services.accounts.users.create(username, PASSWORD)
    with services.database.writing() as db:
        (category,) = categories.list_all(db, user.id)
        for url in urls:
            feeds.add(
                db, user.id, category_id=category.id, feed_url=url, title=url,
                created_at=0, checked_at=0, next_check_at=0,
            )  # fmt: skip
    return user.id
