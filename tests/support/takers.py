"""Who takes words for people in the source: parameters, members and variables that are annotated with `Words`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

# Told in the terminal.
NOT_FOR_PAGES = frozenset({"StartError"})

Key = tuple[str, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module:
    """names: of parameters and variables that hold words. homes: what is imported, and where it is defined."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.tree = ast.parse(text)
        self.names: set[str] = set()
        self.homes = dict(_imports(self.tree))
        self.defined = {
            node.name
            for node in ast.walk(self.tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        }


class House:
    """All modules. places: by the module and name of a function or class that takes words, where it takes them.

    known: names of members, and of functions that return words.
    """

    def __init__(self, sources: Mapping[str, str]) -> None:
        self.modules = {file: Module(file, text) for file, text in sources.items()}
        self.places: dict[Key, dict[str, int]] = {}
        # What an object says of itself.
        self.known: set[str] = {"str"}
        self._bases: dict[Key, list[Key]] = {}
        for module in self.modules.values():
            for node in ast.walk(module.tree):
                self._note(module, node)

    def taken_by(self, key: Key | None) -> Mapping[str, int]:
        """Of a class, or of the one that it inherits from."""
        if key is None or key[1] in NOT_FOR_PAGES:
            return {}
        if key in self.places:
            return self.places[key]
        return next((places for base in self._bases.get(key, ()) if (places := self.taken_by(base))), {})

    def key_of(self, module: Module, node: ast.expr) -> Key | None:
        """What is called, as far as that can be told without running it."""
        match node:
            case ast.Name(id=name):
                return (module.file, name) if name in module.defined else self._home(module, name)
            case ast.Attribute(attr=name, value=ast.Name(id=owner)) if owner in module.homes:
                home, inside = module.homes[owner]
                return (f"{home}/{inside}.py" if inside else home, name)
            case ast.Attribute(attr=name) if name in module.defined:
                return (module.file, name)
        return None

    def _home(self, module: Module, name: str) -> Key | None:
        folder, inside = module.homes.get(name, ("", ""))
        if f"{folder}.py" in self.modules:
            return (f"{folder}.py", inside)
        package = self.modules.get(f"{folder}/__init__.py")
        return self._home(package, inside) if package else None

    def _note(self, module: Module, node: ast.AST) -> None:
        match node:
            case ast.ClassDef(name=name, body=body):
                key = (module.file, name)
                self._bases[key] = [base for one in node.bases if (base := self.key_of(module, one))]
                members = [one for one in body if isinstance(one, ast.AnnAssign)]
                places = {_name(one.target): at for at, one in enumerate(members) if is_words(one.annotation)}
                self.known |= set(places)
                for one in body:
                    if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                        self.places[key] = _places(one)
                if places:
                    self.places[key] = places
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                if is_words(node.returns):
                    self.known.add(node.name)
                if places := _places(node):
                    self.places[module.file, node.name] = places
                module.names |= {arg.arg for arg in _arguments(node) if is_words(arg.annotation)}
            case ast.AnnAssign(target=ast.Name(id=name)) if is_words(node.annotation):
                (self.known if name.isupper() else module.names).add(name)


def _imports(tree: ast.Module) -> Iterator[tuple[str, Key]]:
    """The name here; the module that it comes from, as a path without its end, and its name there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tidings"):
            folder = (node.module or "").removeprefix("tidings").strip(".").replace(".", "/")
            yield from ((name.asname or name.name, (folder, name.name)) for name in node.names)


def _arguments(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _places(function: Function) -> dict[str, int]:
    arguments = _arguments(function)
    if arguments and arguments[0].arg in ("self", "cls"):
        arguments = arguments[1:]
    return {arg.arg: at for at, arg in enumerate(arguments) if is_words(arg.annotation)}


def is_words(annotation: ast.expr | None) -> bool:
    return annotation is not None and any(
        isinstance(node, ast.Name) and node.id == "Words" for node in ast.walk(annotation)
    )


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
