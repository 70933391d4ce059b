"""`loom pto check` of vectors of any length: right kernels are silent, wrong ones are refused where the fault is."""

from __future__ import annotations

import pytest

from loomir import pto

SOFTMAX = """
!p = !pto.ptr<f16, ub>
!o = !pto.ptr<f32, ub>
!h = !pto.vmi.vreg<{n}xf16>
!f = !pto.vmi.vreg<{n}xf32>
!m = !pto.vmi.mask<{n}xpred>
!s = !pto.vmi.vreg<{groups}xf32>
func.func @rows(%in: !p, %out: !o, %rows: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %all = pto.vmi.pset "PAT_ALL" : !m
  scf.for %i = %c0 to %rows step %c1 {{
    %h = pto.vmi.vload %in[%i] : !p -> !h
    %x = pto.vmi.vcvt %h : !h -> !f
    %top = pto.vmi.vcmax %x, %all {{group = {groups}}} : !f, !m -> !s
    %most = pto.vmi.vbrc %top {{group = {groups}}} : !s -> !f
    %d = pto.vmi.vsub %x, %most : !f, !f -> !f
    %e = pto.vmi.vexp %d : !f -> !f
    pto.vmi.vstore %e, %out[%i] : !f, !o
  }}
  return
}}
"""


def errors(text: str) -> list[str]:
    return [str(finding) for finding in pto.check(text, "a5") if finding.severity == "error"]


@pytest.mark.parametrize(("n", "groups"), [(128, 8), (64, 8), (256, 4)])
def test_a_right_kernel_is_silent(n: int, groups: int) -> None:
    assert errors(SOFTMAX.format(n=n, groups=groups)) == []


def test_groups_without_a_layout() -> None:
    """Groups of 12 numbers are neither blocks of 32 bytes nor parts of one."""
    (error,) = errors(SOFTMAX.format(n=96, groups=8))
    assert "VMI-LAYOUT-CONTRACT" in error
    assert "the result of pto.vmi.group_reduce_maxf at <text>:15:" in error and "blocks of 32 bytes" in error


KERNEL = """
!p = !pto.ptr<f32, ub>
func.func @kernel(%p: !p, %o: index, %n: index) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<{n}xpred>
  %v = pto.vmi.vload %p[%o] : !p -> !pto.vmi.vreg<{n}xf32>
  {body}
  return
}}
"""


@pytest.mark.parametrize(
    ("right", "wrong", "body", "words"),
    [
        (64, 128, "%r = pto.vmi.compress %v, %m : !v, !m -> !v", "requires a single physical chunk"),
        (64, 50, "%r = pto.vmi.compress %v, %m : !v, !m -> !v", "requires full source physical chunks"),
        (64, 128, "pto.vmi.compress_store %v, %p[%o], %m : !v, !p, !m", "multi-chunk compress_store"),
        (128, 100, "%r = pto.vmi.masked_load %p[%o], %m, %v : !p, !m, !v -> !v", "safe full-read footprint"),
        (128, 100, "pto.vmi.vstore %v, %v, %p[%o] {dist_mode = \"dintlv\"} : !v, !v, !p", "full physical chunks"),
    ],
)  # fmt: skip
def test_registers_that_are_not_full(right: int, wrong: int, body: str, words: str) -> None:
    """A vector of a length that instructions take is right; another is refused, at the operation."""

    def text(n: int) -> str:
        types = body.replace("!v", f"!pto.vmi.vreg<{n}xf32>").replace("!m", f"!pto.vmi.mask<{n}xpred>")
        return KERNEL.format(n=n, body=types)

    assert errors(text(right)) == []
    (error,) = errors(text(wrong))
    assert "VMI-UNSUPPORTED" in error and words in error and ":6:" in error


@pytest.mark.parametrize(("stride", "is_right"), [("24", True), ("20", False), ("0", False)])
def test_distances_of_rows(stride: str, is_right: bool) -> None:
    body = (
        f"%s = arith.constant {stride} : index\n"
        "  %r = pto.vmi.vload %p[%o], %s {group = 8} : !p -> !pto.vmi.vreg<128xf32>\n"
        "  %t = pto.vmi.vcadd %r, %m {group = 8, reassoc} : !pto.vmi.vreg<128xf32>, !pto.vmi.mask<128xpred> "
        "-> !pto.vmi.vreg<8xf32>"
    )
    found = errors(KERNEL.format(n=128, body=body))
    assert (found == []) is is_right
    assert is_right or "row_stride divisible by 8 f32 elements" in found[0]


def test_a_function_that_nobody_calls() -> None:
    """Its arguments come in whatever layout they are used in; one that is called has those of its callers."""
    helper = """
!v = !pto.vmi.vreg<192xf32>
func.func private @helper(%v: !v, %m: !pto.vmi.mask<192xpred>) -> !pto.vmi.vreg<6xf32> {
  %0 = pto.vmi.vcadd %v, %m {group = 6, reassoc} : !v, !pto.vmi.mask<192xpred> -> !pto.vmi.vreg<6xf32>
  return %0 : !pto.vmi.vreg<6xf32>
}
"""
    caller = """
func.func @kernel(%p: !pto.ptr<f32, ub>, %o: index, %n: index) {
  %m = pto.vmi.create_mask %n : index -> !pto.vmi.mask<192xpred>
  %v = pto.vmi.vload %p[%o] : !pto.ptr<f32, ub> -> !v
  pto.vmi.vstore %v, %v, %p[%o] {dist_mode = "dintlv"} : !v, !v, !pto.ptr<f32, ub>
  %s = func.call @helper(%v, %m) : (!v, !pto.vmi.mask<192xpred>) -> !pto.vmi.vreg<6xf32>
  return
}
"""
    assert errors(helper) == []
    assert "ensure_layout has no registered materialization support" in errors(helper + caller)[0]
