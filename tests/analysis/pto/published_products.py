"""Products whose times and shares of pipelines pto-isa has published for 24 cores of an A3: `gemm_performance`.

One core's part in our text, with the tiles, the double buffers and the order of the published description.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...host.pto_kernel_text import acc, left, mat, right

FREQUENCY = 1.85e9
ROWS, COLUMNS, INNER, STEPS = 128, 256, 64, 4
"""Base blocks of a product, and how many of them along the inner extent one load brings."""


@dataclass(frozen=True)
class Product:
    """One core's rows, columns and inner extent, the milliseconds measured, and the shares of time, in hundredths, that
    products, extracts, loads and stores took."""

    rows: int
    columns: int
    inner: int
    milliseconds: float
    shares: tuple[float, float, float, float]

    @property
    def cycles(self) -> float:
        return self.milliseconds * FREQUENCY / 1000

    def text(self) -> str:
        kinds = {"am": mat(ROWS, INNER * STEPS, "f16"), "bm": mat(INNER * STEPS, COLUMNS, "f16")}
        kinds |= {"l": left(ROWS, INNER, "f16"), "r": right(INNER, COLUMNS, "f16")}
        sum_type = acc(ROWS, COLUMNS)
        deep = INNER * STEPS
        numbers = {0, 1, self.rows, self.columns, self.inner, ROWS, COLUMNS, deep, 2 * deep}
        numbers |= {INNER * step for step in range(STEPS)}
        lines = [f"%c{number} = arith.constant {number} : index" for number in sorted(numbers)]
        shapes = {
            "a": (self.rows, self.inner, "f16"), "b": (self.inner, self.columns, "f16"),
            "o": (self.rows, self.columns, "f32"),
        }  # fmt: skip
        views = {name: f"!pto.tensor_view<{rows}x{columns}x{kind}>" for name, (rows, columns, kind) in shapes.items()}
        for name, (rows, columns, _) in shapes.items():
            shape, strides = f"[%c{rows}, %c{columns}]", f"[%c{columns}, %c1]"
            lines.append(
                f"%{name}v = pto.make_tensor_view %{name}, shape = {shape}, strides = {strides} : {views[name]}"
            )
        lines += [f"%{name}{half} = pto.alloc_tile : {kind}" for name, kind in kinds.items() for half in range(2)]
        lines.append(f"%acc = pto.alloc_tile : {sum_type}")
        for name, limit, step in (("n", self.columns, COLUMNS), ("m", self.rows, ROWS), ("k", self.inner, 2 * deep)):
            lines.append(f"scf.for %{name} = %c0 to %c{limit} step %c{step} {{")
        sizes = {"a": f"{ROWS}x{deep}", "b": f"{deep}x{COLUMNS}"}
        parts = {name: f"!pto.partition_tensor_view<{size}xf16>" for name, size in sizes.items()}
        for half in range(2):
            lines += [
                f"%k{half} = arith.addi %k, %c{half * deep} : index",
                f"%ap{half} = pto.partition_view %av, offsets = [%m, %k{half}], sizes = [%c{ROWS}, %c{deep}] : "
                f"{views['a']} -> {parts['a']}",
                f"%bp{half} = pto.partition_view %bv, offsets = [%k{half}, %n], sizes = [%c{deep}, %c{COLUMNS}] : "
                f"{views['b']} -> {parts['b']}",
                *(
                    f"pto.tload ins(%{name}p{half} : {parts[name]}) outs(%{name}m{half} : {kinds[f'{name}m']})"
                    for name in "ab"
                ),
            ]
            for step in range(STEPS):
                place, at = step % 2, f"%c{INNER * step}"
                both = f"{kinds['l']}, {kinds['r']}"
                more = f"ins(%acc, %l{place}, %r{place} : {sum_type}, {both}) outs(%acc : {sum_type})"
                new = f"ins(%l{place}, %r{place} : {both}) outs(%acc : {sum_type})"
                lines += [
                    f"pto.textract ins(%{name}{half}, {where} : {kinds[name]}, index, index) "
                    f"outs(%{to}{place} : {kinds[to]})"
                    for name, where, to in (("am", f"%c0, {at}", "l"), ("bm", f"{at}, %c0", "r"))
                ]
                if half or step:
                    lines.append(f"pto.tmatmul.acc {more}")
                    continue
                lines += [
                    "%first = arith.cmpi eq, %k, %c0 : index", "scf.if %first {", f"pto.tmatmul {new}", "} else {",
                    f"pto.tmatmul.acc {more}", "}",
                ]  # fmt: skip
        part = f"!pto.partition_tensor_view<{ROWS}x{COLUMNS}xf32>"
        lines += [
            "}",
            f"%op = pto.partition_view %ov, offsets = [%m, %n], sizes = [%c{ROWS}, %c{COLUMNS}] : "
            f"{views['o']} -> {part}",
            f"pto.tstore ins(%acc : {sum_type}) outs(%op : {part})", "}", "}", "return",
        ]  # fmt: skip
        arguments = "%a: !pto.ptr<f16>, %b: !pto.ptr<f16>, %o: !pto.ptr<f32>"
        return (
            'module attributes {pto.target_arch = "a3"} {\n'
            f"func.func @gemm({arguments}) attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<cube>}} {{\n"
            + "\n".join(lines)
            + "\n}\n}\n"
        )


PUBLISHED = {
    1536: Product(384, 256, 1536, 0.0388, (54.5, 42.2, 72.2, 7.7)),
    3072: Product(768, 512, 3072, 0.2067, (79.0, 62.0, 90.9, 5.8)),
    6144: Product(1536, 1024, 6144, 1.5060, (86.7, 68.1, 95.2, 3.1)),
}
"""By the extent of the whole square product."""
