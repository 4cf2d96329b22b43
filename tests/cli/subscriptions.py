"""Creates users with due feeds in the database, without fetching the feeds."""

from __future__ import annotations

from support.people import PASSWORD
from tidings.services import Services
from tidings.storage.feeds import categories, feeds


def subscribed(services: Services, username: str, *urls: str) -> int:
    """Create a user with these feeds and return the id of the user."""
    user = services.users.create(username, PASSWORD)
    with services.database.writing() as db:
        (category,) = categories.list_all(db, user.id)
        for url in urls:
            feeds.add(
                db, user.id, category_id=category.id, feed_url=url, title=url,
                created_at=0, checked_at=0, next_check_at=0,
            )  # fmt: skip
    return user.id
