"""Creates, changes and deletes categories."""

from __future__ import annotations

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.domain.feeds.categories import Category, validate_title
from tidings.engine.database import Database, Read, Write
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.storage.entries import counters, entries, labels
from tidings.storage.feeds import bulk, categories, feeds


class CategoryExists(InvalidInput):
    """The user already has a category with this title. Apps compare the message (docs/api.md)."""

    code = "category-exists"

    def __init__(self) -> None:
        super().__init__(msg("This category already exists."), field="title")


class Categories:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, user_id: int, title: str, *, hide_globally: bool = False) -> Category:
        """Create a category and return it. Raises InvalidInput for a title that is invalid or taken."""
        title = validate_title(title)
        with self._database.writing() as db:
            _ensure_free(db, user_id, title)
            category_id = categories.add(
                db, user_id, title=title, title_key=normalize_for_search(title), hide_globally=hide_globally
            )
        return Category(category_id, user_id, title, hide_globally)

    def update(
        self, user_id: int, category_id: int, *, title: str | None = None, hide_globally: bool | None = None
    ) -> Category:
        """Change a category and return it; None keeps a value. Raises NotFound and InvalidInput."""
        with self._database.writing() as db:
            category = owned_category(db, user_id, category_id)
            new_title = category.title if title is None else validate_title(title)
            if normalize_for_search(new_title) != normalize_for_search(category.title):
                _ensure_free(db, user_id, new_title)
            hidden = category.hide_globally if hide_globally is None else hide_globally
            categories.change(
                db,
                user_id,
                category_id,
                title=new_title,
                title_key=normalize_for_search(new_title),
                hide_globally=hidden,
            )
        return Category(category_id, user_id, new_title, hidden)

    def delete(self, user_id: int, category_id: int) -> None:
        """Delete a category with its feeds and their entries. Raises NotFound."""
        with self._database.writing() as db:
            # Polls lock counters first too: in another order, the two transactions would deadlock.
            counters.lock_all(db, user_id)
            if not categories.remove(db, user_id, category_id):
                raise unknown_category(category_id)

    def dissolve(self, user_id: int, category_id: int) -> None:
        """Delete a category; its feeds move to the first of the others. Raises InvalidInput for the only one."""
        with self._database.writing() as db:
            counters.lock_all(db, user_id)
            owned_category(db, user_id, category_id)
            others = [category for category in categories.list_all(db, user_id) if category.id != category_id]
            if not others:
                raise InvalidInput(msg("This is your only category: its feeds have nowhere to go."))
            feed_ids = feeds.ids_of_category(db, user_id, category_id)
            bulk.move(db, user_id, feed_ids, others[0].id)
            categories.remove(db, user_id, category_id)

    def ensure(self, user_id: int, title: str) -> Category:
        """Return the category with this title, compared without case; a new one if there is none."""
        title = validate_title(title)
        return repeat_if_concurrent(lambda: self._ensure(user_id, title))

    def _ensure(self, user_id: int, title: str) -> Category:
        key = normalize_for_search(title)
        with self._database.writing() as db:
            known = categories.by_key(db, user_id, key)
            if known is not None:
                return known
            _ensure_no_label(db, user_id, title)
            number = categories.add(db, user_id, title=title, title_key=key, hide_globally=False)
        return Category(number, user_id, title, hide_globally=False)

    def mark_read(self, user_id: int, category_id: int) -> int:
        """Mark entries read, except those dated in the future. Returns their number. Raises NotFound."""
        now = self._clock()
        with self._database.writing() as db:
            owned_category(db, user_id, category_id)
            return entries.mark_read(db, user_id, category_id=category_id, published_before=now, now=now)


def owned_category(db: Read, user_id: int, category_id: int) -> Category:
    """Return a category of the user. Raises NotFound."""
    category = categories.get(db, user_id, category_id)
    if category is None:
        raise unknown_category(category_id)
    return category


def unknown_category(category_id: int) -> NotFound:
    return NotFound(msg("There is no category {id}.", id=category_id))


def check_title(db: Read, user_id: int, title: str) -> None:
    """Raise InvalidInput unless the user has a category with this title, or `Categories.ensure` can create it."""
    if categories.by_key(db, user_id, normalize_for_search(validate_title(title))) is None:
        _ensure_no_label(db, user_id, title)


def _ensure_free(db: Write, user_id: int, title: str) -> None:
    if categories.by_key(db, user_id, normalize_for_search(title)) is not None:
        raise CategoryExists
    _ensure_no_label(db, user_id, title)


def _ensure_no_label(db: Read, user_id: int, title: str) -> None:
    if labels.by_key(db, user_id, normalize_for_search(title)) is not None:
        text = msg(
            "You have a label called {name}: choose another name, since apps could not tell the two apart.",
            name=repr(title.strip()),
        )
        raise InvalidInput(text, field="title")
