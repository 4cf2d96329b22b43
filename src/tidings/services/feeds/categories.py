"""Creates, changes and deletes categories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search
from tidings.domain.feeds.categories import (
    Category,
    CategoryExists,
    CategoryTree,
    SplitName,
    check_place,
    name_from_app,
    split_names,
    validate_title,
    with_app_titles,
    with_paths,
    with_split_names,
    without,
)
from tidings.engine.database import Database, Read, Write
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.listeners import Listeners
from tidings.storage.entries import counters, duplicates, entries, labels
from tidings.storage.feeds import bulk, categories, feeds, further_categories, sidebar


class Categories:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners

    def create(
        self, user_id: int, title: str, *, parent_id: int | None = None, hide_globally: bool = False
    ) -> Category:
        """Create a category and return it. title: its name, without those above it.

        Raises InvalidInput for a title that is invalid or taken, and for a parent that is not the user's or too deep.
        """
        name = validate_title(title)
        with self._database.writing() as db:
            categories.lock_all(db, user_id)
            present = categories.list_all(db, user_id)
            if parent_id is None and any(_key(one.title) == _key(name) for one in present):
                raise CategoryExists
            new = Category(max((one.id for one in present), default=0) + 1, user_id, "", hide_globally, parent_id, name)
            titled = _placed(db, [*present, new], new.id)
            _ensure_no_label(db, user_id, titled[new.id].title)
            return _added(db, titled[new.id])

    def update(
        self,
        user_id: int,
        category_id: int,
        *,
        title: str | None = None,
        name: str | None = None,
        hide_globally: bool | None = None,
        parent_id: int | UnsetType | None = UNSET,
        keep_duplicates: bool | None = None,
    ) -> Category:
        """Change a category and return it; None and UNSET keep a value. Raises NotFound and InvalidInput.

        title: as apps see it, of which they change the last part. name: the last part. parent_id: the category to put
        it under, None for none.
        """
        with self._database.writing() as db:
            categories.lock_all(db, user_id)
            category = owned_category(db, user_id, category_id)
            present = categories.list_all(db, user_id)
            parent = category.parent_id if parent_id is UNSET else parent_id
            if name is None and title is not None:
                tree = CategoryTree(present)
                above = [tree.path(one) for one in (parent, category.parent_id) if one is not None]
                name = name_from_app(category, validate_title(title), *above)
                if _key(name) != _key(category.name) and _is_shown(db, present, category, name):
                    raise CategoryExists
            new_name = category.name if name is None else validate_title(name)
            hidden = category.hide_globally if hide_globally is None else hide_globally
            keeps = category.keep_duplicates if keep_duplicates is None else keep_duplicates
            changed = replace(category, name=new_name, parent_id=parent, hide_globally=hidden, keep_duplicates=keeps)
            titled = _placed(db, [changed if one.id == category_id else one for one in present], category_id)
            if _key(titled[category_id].title) != _key(category.title):
                _ensure_no_label(db, user_id, titled[category_id].title)
            categories.arrange(db, user_id, present, list(titled.values()))
            return titled[category_id]

    def delete(self, user_id: int, category_id: int, *, with_below: bool = False) -> None:
        """Delete a category with its feeds and their entries, except feeds in other categories. Raises NotFound.

        with_below: whether the categories below it go too, with their feeds. Otherwise they move up, under its parent.
        """
        with self._database.writing() as db:
            # Polls lock counters first too: in another order, the two transactions would deadlock.
            counters.lock_all(db, user_id)
            self._remove(db, user_id, category_id, with_below=with_below)

    def dissolve(self, user_id: int, category_id: int) -> None:
        """Delete a category; feeds in no other one move to its parent, or else to the first of the others.

        The categories below it move up. Raises NotFound, and InvalidInput for the only category.
        """
        with self._database.writing() as db:
            counters.lock_all(db, user_id)
            category = owned_category(db, user_id, category_id)
            others = [one for one in categories.list_all(db, user_id) if one.id != category_id]
            if not others:
                raise InvalidInput(msg("This is your only category: its feeds have nowhere to go."))
            target = next((one for one in others if one.id == category.parent_id), others[0])
            self._keep_elsewhere(db, user_id, [category_id])
            bulk.move(db, user_id, feeds.ids_of_category(db, user_id, category_id, with_below=False), target.id)
            self._remove(db, user_id, category_id)

    def _remove(self, db: Write, user_id: int, category_id: int, *, with_below: bool = False) -> None:
        categories.lock_all(db, user_id)
        present = categories.list_all(db, user_id)
        tree = CategoryTree(present)
        gone = tree.get(category_id)
        if gone is None:
            raise unknown_category(category_id)
        removed = tree.with_below(category_id) if with_below else [category_id]
        self._keep_elsewhere(db, user_id, removed)
        of_removed = [
            feed_id for one in removed for feed_id in feeds.ids_of_category(db, user_id, one, with_below=False)
        ]
        duplicates.keep_folded(db, user_id, of_removed)
        categories.remove(db, user_id, removed)
        kept = [one for one in present if one.id not in removed]
        titled = with_app_titles(without(kept, gone), categories.title_style(db, user_id))
        categories.arrange(db, user_id, kept, titled)

    @staticmethod
    def _keep_elsewhere(db: Write, user_id: int, removed: Collection[int]) -> None:
        """Make the next category the first one of feeds whose first is removed."""
        by_next: defaultdict[int, list[int]] = defaultdict(list)
        for one in removed:
            feed_ids = feeds.ids_of_category(db, user_id, one, with_below=False)
            for feed_id, others in further_categories.of_feeds(db, user_id, feed_ids).items():
                kept = [other for other in others if other not in removed]
                if kept:
                    by_next[kept[0]].append(feed_id)
        for category_id, feed_ids in by_next.items():
            bulk.move(db, user_id, feed_ids, category_id)

    def paths_in_names(self, user_id: int) -> list[SplitName]:
        """Return the categories whose names are paths, such as "News / Europe", and what would become of them."""
        with self._database.reading() as db:
            return split_names(categories.list_all(db, user_id))

    def make_tree(self, user_id: int) -> list[SplitName]:
        """Make a tree of the names that are paths, and return what `paths_in_names` did. Titles in apps stay."""
        with self._database.writing() as db:
            categories.lock_all(db, user_id)
            present = categories.list_all(db, user_id)
            split = split_names(present)
            new, moved = with_split_names(present, user_id=user_id)
            if split:
                ids = categories.add_many(db, user_id, new)
                added = {one.id: one for one in categories.list_all(db, user_id)}
                placed = [replace(one, parent_id=ids.get(one.parent_id or 0, one.parent_id)) for one in moved]
                everything = [*placed, *(added[number] for number in ids.values())]
                titled = with_app_titles(everything, categories.title_style(db, user_id))
                categories.arrange(db, user_id, list(added.values()), titled)
            return split

    def ensure(self, user_id: int, title: str) -> Category:
        """Return the category with this title, compared without case; a new one if there is none."""
        title = validate_title(title)
        return repeat_if_concurrent(lambda: self._ensure(user_id, title))

    def _ensure(self, user_id: int, title: str) -> Category:
        key = normalize_for_search(title)
        with self._database.writing() as db:
            present = categories.list_all(db, user_id)
            tree = CategoryTree(present)
            known = [one for one in present if key in (_key(one.title), _key(tree.path(one.id)))]
            if known:
                return known[0]
            _ensure_no_label(db, user_id, title)
            return _added(db, Category(0, user_id, title, hide_globally=False, name=title))

    def mark_read(self, user_id: int, category_id: int) -> int:
        """Mark entries read, except those dated in the future. Returns their number. Raises NotFound."""
        now = self._clock()
        with self._database.writing() as db:
            owned_category(db, user_id, category_id)
            count = entries.mark_read(db, user_id, category_id=category_id, published_before=now, for_app=True, now=now)
            self._listeners.tell_marked_read(db, user_id, count, now)
            return count


def ensure_paths(
    db: Write,
    user_id: int,
    paths: Iterable[tuple[str, ...]],
    *,
    hidden: Collection[tuple[str, ...]] = (),
    keeping: Collection[tuple[str, ...]] = (),
) -> dict[tuple[str, ...], int]:
    """Return the ids of categories by their paths; missing ones have been created.

    hidden: to be hidden if new. keeping: to keep duplicates if new.
    """
    categories.lock_all(db, user_id)
    new, ids = with_paths(categories.list_all(db, user_id), paths, user_id=user_id)
    hidden_ids, keeping_ids = ({ids[path] for path in chosen} for chosen in (hidden, keeping))
    new = [replace(one, hide_globally=one.id in hidden_ids, keep_duplicates=one.id in keeping_ids) for one in new]
    added = categories.add_many(db, user_id, new)
    return {path: added.get(number, number) for path, number in ids.items()}


def owned_category(db: Read, user_id: int, category_id: int) -> Category:
    """Return a category of the user. Raises NotFound."""
    category = categories.get(db, user_id, category_id)
    if category is None:
        raise unknown_category(category_id)
    return category


def feeds_only_in(db: Read, user_id: int, category_ids: Collection[int]) -> dict[int, str]:
    """Return the titles of the feeds that are in no other category than these, by id: they are deleted with them."""
    further = further_categories.of_user(db, user_id)
    return {
        feed.id: feed.title
        for feed in sidebar.list_feeds_of(db, user_id, category_ids)
        if set(category_ids).issuperset((feed.category_id, *further.get(feed.id, ())))
    }


def unknown_category(category_id: int) -> NotFound:
    return NotFound(msg("There is no category {id}.", id=category_id))


def check_title(db: Read, user_id: int, title: str) -> None:
    """Raise InvalidInput unless the user has a category with this title, or `Categories.ensure` can create it."""
    if categories.by_key(db, user_id, normalize_for_search(validate_title(title))) is None:
        _ensure_no_label(db, user_id, title)


def _added(db: Write, new: Category) -> Category:
    """Add a category and return it with its id."""
    category_id = categories.add(
        db,
        new.user_id,
        title=new.title,
        title_key=_key(new.title),
        hide_globally=new.hide_globally,
        name=new.name,
        parent_id=new.parent_id,
    )
    return replace(new, id=category_id)


def _placed(db: Read, wanted: list[Category], category_id: int) -> dict[int, Category]:
    """Return the categories by id with their titles, as they are to become.

    category_id: the one that is new or changed. Raises InvalidInput if it may not be there.
    """
    user_id = wanted[0].user_id
    category = next(one for one in wanted if one.id == category_id)
    if category.parent_id is not None and all(one.id != category.parent_id for one in wanted):
        raise InvalidField("parent_id", msg("there is no category {id}.", id=category.parent_id))
    check_place(wanted, category_id)
    return {one.id: one for one in with_app_titles(wanted, categories.title_style(db, user_id))}


def _is_shown(db: Read, present: Iterable[Category], category: Category, name: str) -> bool:
    """Return whether apps that see categories by their names alone see another one by this name."""
    if categories.title_style(db, category.user_id) != "name":
        return False
    return any(_key(one.title) == _key(name) for one in present if one.id != category.id)


def _ensure_no_label(db: Read, user_id: int, title: str) -> None:
    if labels.by_key(db, user_id, _key(title)) is not None:
        text = msg(
            "You have a label called {name}: choose another name, since apps could not tell the two apart.",
            name=repr(title.strip()),
        )
        raise InvalidInput(text, field="title")


def _key(title: str) -> str:
    return normalize_for_search(title)
