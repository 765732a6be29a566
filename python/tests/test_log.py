"""The logging handler."""

import logging
import subprocess
import sys

import pytest

import traceloom


@pytest.fixture
def logger():
    logger = logging.getLogger("traceloom-test")
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    yield logger
    for handler in list(logger.handlers):
        handler.close()
        logger.removeHandler(handler)


def test_records_become_entries(tmp_path, logger):
    path = tmp_path / "app.clog"
    handler = traceloom.LogHandler(path)
    logger.addHandler(handler)
    logger.debug("plain")
    logger.info("%d of %s, 100%%", 3, "them")
    logger.warning("Größe: %.1f", 2.5)
    try:
        raise ValueError("on purpose")
    except ValueError:
        logger.exception("failed")
    logger.critical("the end")
    handler.close()
    trace = traceloom.open(path, strict=True)
    assert trace.check()["accepted"]
    entries = list(trace.log())
    assert [entry["level"] for entry in entries] == ["DEBUG", "INFO", "WARN", "ERROR", "ERROR"]
    messages = [entry["message"] for entry in entries]
    assert messages[:3] == ["plain", "3 of them, 100%", "Größe: 2.5"]
    assert messages[3].startswith("failed\nTraceback") and messages[3].endswith("ValueError: on purpose")
    assert entries[0]["file"].endswith("test_log.py")


def test_a_process_has_one_log_at_a_time(tmp_path, logger):
    handler = traceloom.LogHandler(tmp_path / "a.clog")
    logger.addHandler(handler)
    with pytest.raises(RuntimeError, match="one log"):
        traceloom.LogHandler(tmp_path / "b.clog")
    handler.close()
    handler.close()
    again = traceloom.LogHandler(tmp_path / "c.clog")
    logger.addHandler(again)
    logger.info("again")
    again.close()
    assert [entry["message"] for entry in traceloom.open(tmp_path / "c.clog").log()] == ["again"]


KILLED = """
import logging, os, sys, traceloom
handler = traceloom.LogHandler(sys.argv[1])
logging.getLogger().addHandler(handler)
logging.error("before the end")
handler.flush()
os.kill(os.getpid(), 9)
"""


def test_the_log_of_a_killed_process_is_read(tmp_path):
    path = tmp_path / "killed.clog"
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -9
    assert [entry["message"] for entry in traceloom.open(path).log()] == ["before the end"]
