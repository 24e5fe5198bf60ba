"""A panic of Polars reaches a person as one line, as any other damage of a file does."""

import os
from contextlib import suppress

import polars as pl
import pytest

from judgerel_ray import cli
from judgerel_ray.cli import main
from judgerel_ray.cli.screen import panics_kept_back

PANIC = (
    b"thread 'async-executor-0' panicked at crates/polars-parquet/read.rs:1:1:\nnote: run with\n"
)


@pytest.fixture
def panicking(monkeypatch, tmp_path):
    """A verb that reads a file whose bytes make Polars panic."""

    def act(_parsed):
        os.write(2, PANIC)
        raise pl.exceptions.PanicException("called `Result::unwrap()` on an `Err` value")

    file = tmp_path / "judgments.parquet"
    file.write_bytes(b"x")
    monkeypatch.setitem(cli.ACTS, "status", act)
    return ["status", str(file)]


def test_a_panic_is_one_line(panicking, capfd):
    assert main(panicking) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("judgerel: a file cannot be read or written: called `Result::unwrap()`")


def test_what_is_no_panic_is_written_after_all(capfd):
    with panics_kept_back():
        os.write(2, b"a warning of a library\n")
    assert capfd.readouterr().err == "a warning of a library\n"
    with suppress(ValueError), panics_kept_back():
        os.write(2, b"its last words\n")
        raise ValueError("x")
    assert capfd.readouterr().err == "its last words\n"
