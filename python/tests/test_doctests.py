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


@pytest.mark.parametrize("item", [traceloom.Trace, traceloom.Table, traceloom.open])
def test_examples_of_the_extension(item):
    # doctest.testmod() looks at what a module defines itself; these are defined in Rust.
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tests = [test for test in finder.find(item, item.__name__, module=False, globs={}) if test.examples]
    assert tests
    for test in tests:
        runner.run(test)
    assert runner.summarize().failed == 0
