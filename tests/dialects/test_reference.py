"""The reference pages say what the dialects say."""

from __future__ import annotations

import pytest

from loomir.dialects import get_all_dialects
from loomir.dialects.reference import DIRECTORY, main, pages


@pytest.mark.parametrize("name", sorted(get_all_dialects()))
@pytest.mark.slow
def test_page_is_up_to_date(name: str) -> None:
    page = DIRECTORY / f"{name}.md"
    assert page.exists(), "run python -m loomir.dialects.reference"
    assert page.read_text(encoding="utf-8") == pages()[name], "run python -m loomir.dialects.reference"


@pytest.mark.parametrize("name", sorted(get_all_dialects()))
@pytest.mark.slow
def test_every_operation_is_on_its_page(name: str) -> None:
    page = pages()[name]
    dialect = get_all_dialects()[name]()
    for op in dialect.operations:
        assert f"`{op.name}`" in page
        assert op.__doc__, f"{op.name} has no docstring"
    for attribute in dialect.attributes:
        assert f"{attribute.name}`" in page
        assert attribute.__doc__, f"{attribute.name} has no docstring"


def test_pages_go_where_told(tmp_path) -> None:
    main([str(tmp_path / "pages")])
    written = {path.stem for path in (tmp_path / "pages").iterdir()}
    assert written == set(get_all_dialects())
