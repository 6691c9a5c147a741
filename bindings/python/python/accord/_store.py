"""A content-addressed store of results."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any

from . import _accord
from ._errors import AccordError, needed
from ._scenario import Engine, Skip

Result = tuple[list[dict[str, Any]], list[dict[str, Any]]]
"""The rows of `Comparison.means`, one per engine, and those of `Comparison.checks`."""


PREFIX = b"sha256:"
"""The start of the digest in a file."""

NO_DIGEST = PREFIX + b"0" * 64
"""The place of the digest in a file that has none yet."""


@functools.cache
def identity() -> str:
    """Return version and build of this package, equal for all installations of one wheel."""
    digest = hashlib.sha256(Path(_accord.__file__).read_bytes()).hexdigest()
    return f"{_accord.__version__}+{digest[:16]}"


def key(
    scenario: _accord.Scenario, engines: tuple[Engine, ...], seed: int, skip: Skip | None = None
) -> str:
    """Return the name of a run: a digest of the resolved scenario with its seed, and the build.

    Raises:
        ValueError: A class of Python has no version, so a change of it would go unseen.

    """
    classes = []
    for own in scenario.classes():
        if not own.version:
            raise ValueError(
                f"store: {own.__name__} has no `version`; give it one, and change it with the code"
            )
        classes.append([own.family_name(), own.version])
    parts = [identity(), scenario.toml(seed), engines, classes, skip]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _sealed(key: str, content: bytes) -> bytes:
    """Return a file with its digest in place of `NO_DIGEST`.

    The digest covers the key and all bytes of the file, with `NO_DIGEST` in its own place.
    """
    start = content.rindex(NO_DIGEST)
    digest = PREFIX + hashlib.sha256(key.encode() + content).hexdigest().encode()
    return content[:start] + digest + content[start + len(digest) :]


def _intact(key: str, content: bytes) -> bool:
    """Return whether a file is unchanged since it was written for this key."""
    start = content.rfind(PREFIX)
    if start < 0:
        return False
    plain = content[:start] + NO_DIGEST + content[start + len(NO_DIGEST) :]
    return _sealed(key, plain) == content


class Store:
    """A directory of Parquet files, one per run, at any place that fsspec supports.

    Files appear whole or not at all. So writers need no lock, and the files of an interrupted sweep
    are valid. A file that is damaged, or was copied over another one, does not fit its digest.
    """

    def __init__(
        self, place: str | os.PathLike[str], options: dict[str, Any] | None = None
    ) -> None:
        """Open a store, which may not exist yet.

        Raises:
            AccordError: fsspec does not know the place.
            ImportError: fsspec, PyArrow or the driver of the place is missing.

        """
        self.place = os.fspath(place)
        self.options = options or {}
        needed("pyarrow.parquet", "a store")
        try:
            self._fs, self._root = needed("fsspec.core", "a store").url_to_fs(
                self.place, **self.options
            )
        except ValueError as e:
            raise AccordError(f"store {self.place}: {e}") from e
        self._local = "file" in self._protocols()

    def _protocols(self) -> tuple[str, ...]:
        protocol = self._fs.protocol
        return (protocol,) if isinstance(protocol, str) else tuple(protocol)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by place and options."""
        return (Store, (self.place, self.options))

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:2]}/{key}.parquet"

    def has(self, key: str) -> bool:
        """Return whether the store has a run with a complete file that belongs to this key."""
        try:
            return _intact(key, self._fs.cat_file(self._path(key)))
        except OSError:
            return False

    def get(self, key: str) -> Result:
        """Read a run.

        Raises:
            AccordError: The file is damaged, or of another run.
            OSError: The file cannot be read.

        """
        import pyarrow
        import pyarrow.parquet

        path = self._path(key)
        content = self._fs.cat_file(path)
        if not _intact(key, content):
            raise AccordError(
                f"store: {path} is damaged or of another run", "repeat the sweep, which replaces it"
            )
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(content))
        return table.to_pylist(), json.loads(table.schema.metadata[b"checks"])

    def put(self, key: str, result: Result) -> None:
        """Write a run."""
        import pyarrow
        import pyarrow.parquet

        means, checks = result
        texts = ["entity_kind", "entity", "metric", "unit", "engine"]
        fields = [pyarrow.field(name, pyarrow.string()) for name in texts]
        schema = pyarrow.schema([*fields, pyarrow.field("value", pyarrow.float64())])
        metadata = {"checks": json.dumps(checks), "identity": identity(), "digest": NO_DIGEST}
        table = pyarrow.Table.from_pylist(means, schema=schema.with_metadata(metadata))
        sink = pyarrow.BufferOutputStream()
        pyarrow.parquet.write_table(table, sink)
        content = _sealed(key, sink.getvalue().to_pybytes())
        path = self._path(key)
        if not self._local:
            # Object stores show an object only when it is complete.
            self._fs.pipe_file(path, content)
            return
        _accord.write_file(path, content)
