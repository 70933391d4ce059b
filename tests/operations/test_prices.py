"""Prices that a user gives: which are taken, and what is said of others."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from loomir import LoomError, targets
from loomir.operations.costs import SCALAR_CLASSES
from loomir.operations.prices import Prices, from_environment, of, read
from loomir.targets.model import PRICES

TARGET = targets.get("wse3")


def test_prices_are_instead_of_those_of_the_target() -> None:
    given = {"loop": 4, "single_multiply": 1.5, "elements": {"fmacs": "5/4", "mov16": 2}}
    timing = of(given).apply(TARGET).timing
    assert (timing.loop, timing.single_multiply) == (4, Fraction(3, 2))
    assert timing.hop == TARGET.timing.hop
    assert timing.element_cycles("multiply_add", (32, 32, 32, 32), (1, 1, 1), "fmacs") == Fraction(5, 4)
    assert timing.element_cycles("multiply", (32, 32, 32), (1, 1, 1), "fmuls") == Fraction(3, 2)
    assert timing.element_cycles("multiply_add", (32, 32, 32, 32), (0, 0, 1), "fmacs") == timing.reduction
    assert Prices().apply(TARGET) is TARGET


def test_every_class_has_a_price() -> None:
    assert set(SCALAR_CLASSES) < set(PRICES)
    timing = of(dict.fromkeys(PRICES, 3)).apply(TARGET).timing
    assert {getattr(timing, name) for name in PRICES} == {3}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lop": 4}, "there is no price 'lop'; did you mean 'loop'?"),
        ({"call": -1}, "'call' is -1; give cycles, a whole number from 0 to 1,048,576"),
        ({"loop": 0}, "'loop' is 0; give cycles, a whole number from 1 to 1,048,576"),
        ({"task_start": 0}, "'task_start' is 0; give cycles, a whole number from 1"),
        ({"loop": 1.5}, "'loop' is 1.5; give cycles, a whole number"),
        ({"loop": True}, "'loop' is True; give cycles"),
        ({"hop": 0}, "'hop' is 0; give cycles, a whole number from 1"),
        ({"read_words": 0}, "'read_words' is 0; give a number, a whole number from 1"),
        ({"single_multiply": "1/0"}, "'single_multiply' is '1/0'; give cycles for an element"),
        ({"elements": {"fmax": 1}}, "there is no DSD operation 'fmax'; did you mean"),
        ({"elements": {"fmacs": -1}}, "'fmacs' is -1; give cycles for an element"),
        ({"elements": 3}, "'elements' is 3; give an object of names of DSD operations"),
        ([1], 'error: prices are an object of names and cycles, for example {"loop": 4}, not [1]'),
        (None, "error: prices are an object of names and cycles"),
        ({"single_multiply": "1/\u0664"}, "'single_multiply' is '1/\u0664'; give cycles for an element"),
        ({"elements": {"fmacs": "\u0661"}}, "'fmacs' is '\u0661'; give cycles for an element"),
        ({"elements": {"fmacs": "1e999999999"}}, "'fmacs' is '1e999999999'; give cycles for an element"),
    ],
)
def test_what_are_no_prices(given: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps(given))
    with pytest.raises(LoomError) as error:
        read(str(path))
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "is not JSON: "),
        (b"[" * 100_000, "is not JSON: "),
        (b'{"\xff"', "is not JSON: "),
        (b'{"loop": 1, "hop": 1, "loop": 1}', "there are two prices 'loop'; remove one"),
        (b'{"elements": {"fmacs": 1, "fmacs": 2}}', "there are two prices 'fmacs'; remove one"),
    ],
)
def test_files_that_are_not_json(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_bytes(content)
    with pytest.raises(LoomError, match=message):
        read(str(path))


def test_the_environment_names_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOOM_PRICES", raising=False)
    assert from_environment() == Prices()
    monkeypatch.setenv("LOOM_PRICES", str(tmp_path / "none.json"))
    with pytest.raises(LoomError, match=r"none\.json: .*cannot be read: No such file"):
        from_environment()
    (tmp_path / "none.json").write_text('{"task_start": 9}')
    assert from_environment() == of({"task_start": 9})
