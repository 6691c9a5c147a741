"""The program ``accord`` that the package installs."""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import _accord
from ._own import Controller, check

CLASS = re.compile(r"""([^\s=,"'{}]+\.py):([^\W\d]\w*)""")
"""A class on the command line: FILE.py:CLASS."""


def main() -> int:
    """Run the program with the arguments of this process, and return its exit code."""
    classes: dict[str, Any] = {}
    files: set[Path] = set()

    def named(found: re.Match[str]) -> str:
        file, name = Path(found[1]), found[2]
        files.add(file)
        if found[0] not in classes:
            classes[found[0]] = _loaded(file, name)
        return str(classes[found[0]].family_name())

    try:
        arguments = [CLASS.sub(named, argument) for argument in sys.argv[1:]]
        own = list(dict.fromkeys(classes.values()))
        return _accord.program(["accord", *arguments], own, _build(files))
    except (OSError, SyntaxError, ImportError, AttributeError, TypeError, ValueError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 2


def _build(files: Iterable[Path]) -> str:
    """Return the identity under which results are kept.

    It is that of the package, of the files, and of the modules next to them that they import.
    """
    package = Path(_accord.__file__).stat()
    digest = hashlib.sha256(f"{package.st_size} {package.st_mtime_ns}".encode())
    folders = {file.resolve().parent for file in files}
    modules = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    imported = {Path(module).resolve() for module in modules if module}
    own = (module for module in imported if "site-packages" not in module.parts)
    near = {module for module in own if folders & set(module.parents)}
    for file in sorted({file.resolve() for file in files} | near):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _loaded(file: Path, name: str) -> Any:
    """Return a class from a file, which may import its neighbours."""
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    module = f"accord_own_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]}"
    if module not in sys.modules:
        spec = importlib.util.spec_from_file_location(module, file)
        assert spec is not None and spec.loader is not None
        sys.path.insert(0, str(file.resolve().parent))
        sys.modules[module] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[module])
    found = getattr(sys.modules[module], name, None)
    if found is None:
        raise AttributeError(f"{file} has no class {name}")
    return check(found)


def kernel(*arguments: str, own: Iterable[type[Controller]] = ()) -> int:
    """Run ``accord kernel`` with these arguments and controllers.

    It needs Linux, root, and a package that was built with the feature ``kernel``. After an
    exception in a class its connection goes on as Reno.

    Args:
        arguments: The arguments of the command, such as ``"attach", "--controller", "keeper"``.
        own: Classes that the arguments may name.

    Returns:
        The exit code.

    """
    return _accord.program(["accord", "kernel", *arguments], list(own), None)
