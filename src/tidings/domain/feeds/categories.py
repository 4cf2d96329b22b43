"""Categories, the tree that they form, and the rules for their titles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import normalize_for_search, reject_nul, sort_key

# Titles are indexed, and PostgreSQL limits an index entry to 2,704 bytes; case folding may make a title longer.
MAX_TITLE = 500
MAX_KEY_BYTES = 2_000
# How deep categories may be: one without a parent is at depth 1.
MAX_DEPTH: Final = 8
# Between the names of a path, such as "News / Europe".
SEPARATOR: Final = " / "
# How apps that know no tree see a category (`User.category_titles`): by its path, or by its name alone.
TITLE_STYLES: Final = ("path", "name")


class Category(Struct, frozen=True):
    id: int
    user_id: int
    title: str
    """As apps show it: unique among the categories of the user (`with_app_titles`)."""
    hide_globally: bool
    parent_id: int | None = None
    """None for a category at the top."""
    name: str = ""
    """The last part of its path, unique among the categories with the same parent."""
    keep_duplicates: bool = False
    """As of each feed in it and below it."""


class CategoryCounts(Struct, frozen=True):
    feed_count: int = 0
    total_unread: int = 0


class CategoryExists(InvalidInput):
    """The user already has a category with this title. Apps compare the message (docs/api.md)."""

    code = "category-exists"

    def __init__(self) -> None:
        super().__init__(msg("This category already exists."), field="title")


def validate_title(title: str) -> str:
    """Return the title on one line. Raises InvalidInput if it is blank or too long, or holds a NUL character."""
    title = title.replace("\n", " ")
    if not title.strip():
        raise InvalidInput(
            msg("A category needs a title: give a text with at least one visible character."), field="title"
        )
    if len(title) > MAX_TITLE or _key_bytes(title) > MAX_KEY_BYTES:
        raise InvalidInput(
            msg("This category title is too long: {max} characters at most.", max=MAX_TITLE), field="title"
        )
    return reject_nul(title, field="title")


class CategoryTree:
    """The categories of a user. One whose parent is missing counts as one at the top.

    Categories with the same parent are in the order of their names.
    """

    def __init__(self, categories: Iterable[Category]) -> None:
        self._by_id = {one.id: one for one in sorted(categories, key=_order)}
        self._children: dict[int | None, list[Category]] = {}
        for one in self._by_id.values():
            parent_id = one.parent_id if one.parent_id in self._by_id else None
            self._children.setdefault(parent_id, []).append(one)

    def get(self, category_id: int | None) -> Category | None:
        return None if category_id is None else self._by_id.get(category_id)

    def children(self, parent_id: int | None) -> Sequence[Category]:
        """Return the categories directly below one; None: those at the top."""
        return self._children.get(parent_id, ())

    def walk(self) -> Iterator[tuple[Category, int]]:
        """Yield every category with its depth, each followed by those below it."""
        waiting = [(one, 1) for one in reversed(self.children(None))]
        while waiting:
            one, depth = waiting.pop()
            yield one, depth
            waiting += [(child, depth + 1) for child in reversed(self.children(one.id))]

    def with_below(self, category_id: int) -> list[int]:
        """Return the ids of a category and of all below it, itself first."""
        found = {category_id: True}
        waiting = [category_id]
        for each in waiting:
            new = [child.id for child in self.children(each) if child.id not in found]
            found |= dict.fromkeys(new, True)
            waiting += new
        return waiting

    def line(self, category_id: int) -> list[Category]:
        """Return a category with those above it, the one at the top first."""
        line: list[Category] = []
        category = self.get(category_id)
        while category is not None and category not in line:
            line.append(category)
            category = self.get(category.parent_id)
        return line[::-1]

    def with_above(self, category_ids: Iterable[int]) -> set[int]:
        """Return the ids of categories and of all above them."""
        return {one.id for category_id in category_ids for one in self.line(category_id)}

    def only_through_further(self, category_ids: Sequence[int]) -> set[int]:
        """Return the categories that hold a feed, itself or below them, but whose counts lack it: not by its first.

        category_ids: those of the feed, the first one first.
        """
        return self.with_above(category_ids) - self.with_above(category_ids[:1])

    def path(self, category_id: int) -> str:
        """Return the names from the top to the category, as one text."""
        return SEPARATOR.join(one.name for one in self.line(category_id))

    def is_hidden(self, category_id: int) -> bool:
        """Whether a category is hidden globally, by itself or by one above it."""
        return any(one.hide_globally for one in self.line(category_id))

    def summed(self, counts: Mapping[int, int]) -> dict[int, int]:
        """Return the sums of counts over each category and all below it, by id. counts: by id; 0 where missing."""
        sums = {category_id: counts.get(category_id, 0) for category_id in self._by_id}
        for category, _ in reversed(list(self.walk())):
            if category.parent_id in sums:
                sums[category.parent_id] += sums[category.id]
        return sums


def check_place(categories: Iterable[Category], category_id: int) -> None:
    """Raise InvalidInput unless a category may be where it is, among the categories as they are to become.

    It may not be below itself or too deep with what is below it, and no path may be there twice or be too long.
    """
    tree = CategoryTree(categories)
    line = tree.line(category_id)
    if any(one.parent_id == category_id for one in line):
        raise InvalidInput(
            msg("A category cannot be below itself: choose another one to put it under."), field="parent_id"
        )
    depths = {category_id: len(line)}
    for each in tree.with_below(category_id):
        depths |= {child.id: depths[each] + 1 for child in tree.children(each)}
    if max(depths.values()) > MAX_DEPTH:
        raise InvalidInput(
            msg("Categories may be {max} deep: choose one further up to put it under.", max=MAX_DEPTH),
            field="parent_id",
        )
    paths = {each: tree.path(each) for each in depths}
    keys = {normalize_for_search(path) for path in paths.values()}
    others = {normalize_for_search(tree.path(one.id)) for one, _ in tree.walk() if one.id not in depths}
    if len(keys) < len(paths) or keys & others:
        raise CategoryExists
    for path in paths.values():
        if len(path) > MAX_TITLE or _key_bytes(path) > MAX_KEY_BYTES:
            raise InvalidInput(
                msg(
                    "This title is too long together with the categories above it: {max} characters at most.",
                    max=MAX_TITLE,
                ),
                field="title",
            )


def with_app_titles(categories: Iterable[Category], style: str) -> list[Category]:
    """Return the categories with the titles that apps show, which are unique. style: of `TITLE_STYLES`.

    By its name alone is shown the one at the top, or else the first one, that has the name; others by their paths.
    """
    tree = CategoryTree(categories)
    everything = [one for one, _ in tree.walk()]
    taken: set[str] = set()
    titled = []
    for one in sorted(everything, key=lambda one: (tree.get(one.parent_id) is not None, one.id)):
        path = tree.path(one.id)
        names = [one.name, path] if style == "name" else [path]
        title = next((name for name in names if normalize_for_search(name) not in taken), "")
        number = 2
        while not title or normalize_for_search(title) in taken:
            title, number = f"{path} ({number})", number + 1
        taken.add(normalize_for_search(title))
        titled.append(replace(one, title=title))
    return titled


def name_from_app(category: Category, title: str, *prefixes: str) -> str:
    """Return the new name of a category for which an app that may know no tree sends a title.

    Such an app renames the last part of what it shows, and never moves. prefixes: paths of the categories above it.
    """
    if title == category.title:
        return category.name
    shown_above = category.title.removesuffix(category.name) if category.title.endswith(category.name) else ""
    for prefix in (shown_above, *(f"{path}{SEPARATOR}" for path in prefixes if path)):
        if prefix and title.casefold().startswith(prefix.casefold()) and title[len(prefix) :].strip():
            return title[len(prefix) :]
    last = title.rpartition(SEPARATOR)[2]
    return last if shown_above and last.strip() else title


def without(categories: Iterable[Category], gone: Category) -> list[Category]:
    """Return the categories with those below one that is deleted moved up, under its parent.

    One whose path there is taken keeps the name of the deleted category before its own.
    """
    kept = list(categories)
    tree = CategoryTree([gone, *kept])
    above = [] if tree.get(gone.parent_id) is None else [tree.path(gone.parent_id or 0)]
    taken = {normalize_for_search(tree.path(one.id)) for one in kept}

    def moved(one: Category) -> Category:
        if one.parent_id != gone.id:
            return one
        is_taken = normalize_for_search(SEPARATOR.join([*above, one.name])) in taken
        name = f"{gone.name}{SEPARATOR}{one.name}" if is_taken else one.name
        return replace(one, parent_id=gone.parent_id, name=name)

    return [moved(one) for one in kept]


def with_paths(
    categories: Sequence[Category], paths: Iterable[Sequence[str]], *, user_id: int
) -> tuple[list[Category], dict[tuple[str, ...], int]]:
    """Return the new categories that paths need, without app titles, and the id of each path.

    New categories have negative ids, and follow their parents. Names are compared without case. What is deeper than
    `MAX_DEPTH` becomes one name: its parts, joined.
    """
    tree = CategoryTree(categories)
    ids = {normalize_for_search(tree.path(one.id)): one.id for one in categories}
    depths = {one.id: len(tree.line(one.id)) for one in categories}
    every = {one.id: one for one in categories}
    new: list[Category] = []

    def resolve(path: tuple[str, ...]) -> int:
        key = normalize_for_search(SEPARATOR.join(path))
        if key not in ids:
            parent, name = every[resolve(path[:-1])] if len(path) > 1 else None, path[-1]
            while parent is not None and depths[parent.id] >= MAX_DEPTH:
                name = f"{parent.name}{SEPARATOR}{name}"
                parent = every.get(parent.parent_id or 0)
            number = -1 - len(new)
            every[number] = Category(number, user_id, "", False, parent.id if parent else None, name)
            new.append(every[number])
            ids[key], depths[number] = number, depths[parent.id] + 1 if parent else 1
        return ids[key]

    found: dict[tuple[str, ...], int] = {}
    for path in dict.fromkeys(map(tuple, paths)):
        head, tail = path[: MAX_DEPTH - 1], path[MAX_DEPTH - 1 :]
        found[path] = resolve((*head, SEPARATOR.join(tail)) if tail else head)
    return new, found


class SplitName(Struct, frozen=True):
    """A category whose name is a path, such as "News / Europe", and the names that it would have in a tree."""

    id: int
    title: str
    path: tuple[str, ...]


def split_names(categories: Iterable[Category]) -> list[SplitName]:
    """Return the categories whose names are paths, in the order of the tree, with their paths as they would become.

    Their titles stay: only the tree is new. What would be deeper than `MAX_DEPTH` becomes one name.
    """
    tree = CategoryTree(categories)
    taken: set[tuple[str, ...]] = set()
    found = []
    for one, _ in tree.walk():
        parts = [part for above in tree.line(one.id) for part in _parts(above.name)]
        tail = [SEPARATOR.join(parts[MAX_DEPTH - 1 :])] if len(parts) >= MAX_DEPTH else []
        path = (*parts[: MAX_DEPTH - 1], *tail)
        key = tuple(map(normalize_for_search, path))
        if key in taken:
            # Blanks alone tell it from another one.
            path = (*path[:-1], one.name)
        taken.add(key)
        if path != tuple(above.name for above in tree.line(one.id)):
            found.append(SplitName(one.id, one.title, path))
    return found


def with_split_names(categories: Sequence[Category], *, user_id: int) -> tuple[list[Category], list[Category]]:
    """Return the new categories that `split_names` needs, with negative ids, and all others as they become."""
    tree = CategoryTree(categories)
    paths = {one.id: tuple(above.name for above in tree.line(one.id)) for one in categories}
    paths |= {one.id: one.path for one in split_names(categories)}
    ids = {tuple(map(normalize_for_search, path)): number for number, path in paths.items()}
    new: list[Category] = []

    def parent_of(path: tuple[str, ...]) -> int | None:
        above = path[:-1]
        if not above:
            return None
        key = tuple(map(normalize_for_search, above))
        if key not in ids:
            parent_id = parent_of(above)
            ids[key] = -1 - len(new)
            new.append(Category(ids[key], user_id, "", False, parent_id, above[-1]))
        return ids[key]

    moved = [replace(one, parent_id=parent_of(paths[one.id]), name=paths[one.id][-1]) for one in categories]
    return new, moved


def _parts(name: str) -> list[str]:
    parts = [part.strip() for part in name.split(SEPARATOR)]
    return parts if all(parts) else [name]


def _order(category: Category) -> tuple[str, str, int]:
    return sort_key(category.name), category.name, category.id


def _key_bytes(text: str) -> int:
    return max(len(text.encode()), len(normalize_for_search(text).encode()))
