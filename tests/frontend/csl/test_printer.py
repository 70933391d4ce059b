"""Trees printed as CSL text, and read again."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loomir.frontend.csl import parse, syntax
from loomir.frontend.csl.printer import print_file

from .csl_trees import declarations, file_of


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(declarations, max_size=2))
def test_what_is_printed_reads_as_the_same_tree(nodes: list[syntax.Declaration]) -> None:
    file = file_of(nodes)
    text = print_file(file)
    again = parse(text, "printed.csl")
    assert syntax.equal(again, file), text
    assert print_file(again) == text
