"""The reference of the package: a section per public name, built as for the book's site."""

import inspect
import re

import pdoc
import pdoc.render
import pytest

import accord


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    pdoc.render.configure(docformat="google", show_source=False)
    pdoc.pdoc("accord", output_directory=folder)
    return (folder / "accord.html").read_text()


def public():
    for name in accord.__all__:
        value = getattr(accord, name)
        yield name, value
        if inspect.isclass(value):
            for member, what in vars(value).items():
                if not member.startswith("_") and (callable(what) or isinstance(what, property)):
                    yield f"{name}.{member}", what


def test_every_public_name_has_its_section(page):
    missing = [name for name, _ in public() if f'id="{name}"' not in page and name[0] != "_"]
    assert not missing


def test_every_public_name_is_described():
    owner = {name: getattr(accord, name.split(".")[0]) for name, _ in public() if "." in name}
    bare = [
        name
        for name, what in public()
        if callable(what)
        and not inspect.getdoc(getattr(owner[name], name.split(".")[1]) if name in owner else what)
    ]
    assert not bare


def test_functions_have_examples_or_need_a_machine(page):
    # These need root, or a notebook.
    without = {"kernel", "explore"}
    functions = {name for name in accord.__all__ if inspect.isfunction(getattr(accord, name))}
    assert {name for name in functions if ">>>" not in (getattr(accord, name).__doc__ or "")} == (
        without
    )


def test_names_in_text_are_links(page):
    # A name in backquotes that pdoc does not find stays without a link.
    sections = {name for name, _ in public()}
    text = re.sub(r"<pre>.*?</pre>", "", page, flags=re.S)
    named = re.findall(r"<code>([A-Za-z_.]+)</code>", text)
    lost = {name for name in named if name in sections and "." in name}
    assert not lost
