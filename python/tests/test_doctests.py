"""The examples in docstrings."""

import doctest
import importlib

import pytest

import traceloom


@pytest.mark.parametrize("name", ["traceloom", "traceloom._lazy", "traceloom._log", "traceloom._memory", "traceloom._notebook", "traceloom._profile", "traceloom._writer"])
def test_examples_of_docstrings(name):
    pytest.importorskip("polars")
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("item", [traceloom.Trace, traceloom.Table, traceloom.open, traceloom.sample])
def test_examples_of_the_extension(item):
    # doctest.testmod() only checks objects that a module defines itself; these are defined in Rust.
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tests = [test for test in finder.find(item, item.__name__, module=False, globs={}) if test.examples]
    assert tests
    for test in tests:
        runner.run(test)
    assert runner.summarize().failed == 0


def test_everything_public_is_documented():
    named = {name: getattr(traceloom, name) for name in traceloom.__all__}
    public = {name: item for name, item in named.items() if callable(item)}
    for name, item in list(public.items()):
        if isinstance(item, type):
            members = {f"{name}.{member}": value for member, value in vars(item).items() if not member.startswith("_")}
            public |= {member: value for member, value in members.items() if callable(value)}
    assert [name for name, item in public.items() if not item.__doc__] == []
    # The main functions have examples, which also cover iterators and properties.
    called = [name for name in public if name in traceloom.__all__ and name.islower() or name.startswith(("Trace.", "Table."))]
    assert [name for name in called if ">>>" not in public[name].__doc__] == []
