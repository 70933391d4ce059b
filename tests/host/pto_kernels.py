"""Kernels in the manner of published ones, with what numpy computes: products, attention, dequantization.

Each is right as it is; `test_pto_kernels` also plants faults in their texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .pto_kernel_text import K, P, acc, column, left, mat, module, right, vec


@dataclass
class Case:
    name: str
    text: str
    arch: str
    arguments: dict[str, Any]
    out: str
    golden: np.ndarray
    blocks: int = 1
    rtol: float = 1e-4


rng = np.random.default_rng(7)


def rnd(*s):
    return rng.standard_normal(s).astype(np.float32)


def gemm(
    name,
    arch,
    split,
    m=64,
    k=32,
    n=32,
    step=32,
    slots=4,
    epilogue="bias",
    blocks=1,
    ksteps=1,
    dynamic=False,
    local=None,
):
    """out = epilogue(a @ b), rows in steps; one row range for each block."""
    gm = None if arch == "a5" else "%slots"
    args = [("%a", P), ("%b", P), ("%slots", P)] + ([("%rows", "index")] if dynamic else [])
    cu = K("cube", "cube", args)
    ve = K("vec", "vector", [("%bias", P), ("%out", P), ("%slots", P)] + ([("%rows", "index")] if dynamic else []))
    size = step * n * 4
    gmc = gmv = gm
    M = "%rows" if dynamic else m * blocks
    for kk in (cu, ve):
        if blocks > 1:
            b = kk.block()
            if gm:
                p = kk.op(f"pto.addptr %slots, {kk.mul(b, size * slots // 4)} : <f32> -> <f32>", "q")
                if kk is cu:
                    gmc = p
                else:
                    gmv = p
            kk.base = kk.mul(b, m)
        else:
            kk.base = kk.c(0)
    cu.open(0, 1, size, slots, c2v=cu.imp("f", "vec"), gm=gmc, local=local)
    ve.open(0, 1, size, slots, c2v=ve.reserve("f", size * (local or slots), "vec"), gm=gmv, local=local)
    kt = k // ksteps
    am = cu.tile(mat(step, kt))
    bm = cu.tile(mat(kt, n))
    lhs = cu.tile(left(step, kt))
    r = cu.tile(right(kt, n))
    o = cu.tile(acc(step, n))
    i = cu.for_(0, "%rows" if dynamic else m, step)
    row = cu.add(cu.base, i)
    for q in range(ksteps):
        cu.load(cu.part("%a", (M, k), (row, q * kt), (step, kt)), am)
        cu.load(cu.part("%b", (k, n), (q * kt, 0), (kt, n)), bm)
        cu.mov(am, lhs)
        cu.mov(bm, r)
        (cu.mm if q == 0 else cu.mmacc)(lhs, r, o)
    cu.push(o, 0, split)
    cu.end()
    h = {0: (step, n), 1: (step // 2, n), 2: (step, n // 2)}[split]
    ro = co = ve.c(0)
    if split:
        ln = ve.lane()
        ro = ve.mul(ln, step // 2) if split == 1 else ro
        co = ve.mul(ln, n // 2) if split == 2 else co
    elif arch != "a5":
        ve.sub_first = None
    bt = ve.tile(vec(1, h[1]))
    ve.load(ve.part("%bias", (1, n), (0, co), (1, h[1])), bt)
    u = ve.tile(vec(*h))
    w = ve.tile(vec(*h))
    i = ve.for_(0, "%rows" if dynamic else m, step)
    e = ve.pop(vec(*h), 0, split)
    if epilogue == "bias":
        ve.t1("tcolexpandadd", e, w, bt)
    elif epilogue == "relu":
        ve.t1("tcolexpandadd", e, u, bt)
        ve.ts("tmaxs", u, 0.0, w)
    elif epilogue == "scale":
        ve.ts("tmuls", e, 0.5, u)
        ve.t1("tcolexpandmul", u, w, bt)
    elif epilogue == "exp":
        ve.ts("tmuls", e, 0.1, u)
        ve.t1("texp", u, w)
    elif epilogue == "square":
        ve.t1("tmul", e, w, e)
    ve.free(0, split)
    row = ve.add(ve.base, ve.add(i, ro))
    ve.store(w, ve.part("%out", (M, n), (row, co), h))
    ve.end()
    A, B, bias = rnd(m * blocks, k), rnd(k, n), rnd(1, n)
    x = A @ B
    g = {
        "bias": lambda: x + bias,
        "relu": lambda: np.maximum(x + bias, 0),
        "scale": lambda: x * 0.5 * bias,
        "exp": lambda: np.exp(x * 0.1),
        "square": lambda: x * x,
    }[epilogue]()
    arguments = {"a": A, "b": B, "bias": bias, "out": np.zeros((m * blocks, n), np.float32)}
    if gm:
        arguments["slots"] = np.zeros(size * slots // 4 * blocks, np.float32)
    if dynamic:
        arguments["rows"] = m
    if not gm:
        arguments["slots"] = np.zeros(4, np.float32)
    return Case(name, module("a5" if arch == "a5" else "a3", cu, ve), arch, arguments, "out", g, blocks)


def dequant(name, arch, split, m=32, k=64, n=32, step=16, slots=4):
    """out = a @ (q * scale): vector cores scale and push, the cube accumulates over K."""
    gm = None if arch == "a5" else "%slots"
    cu = K("cube", "cube", [("%a", P), ("%out", P), ("%slots", P)])
    ve = K("vec", "vector", [("%q", P), ("%s", P), ("%slots", P)])
    size = step * n * 4
    cu.open(0, 2, size, slots, v2c=cu.reserve("g", size * slots, "mat"), gm=gm)
    ve.open(0, 2, size, slots, v2c=ve.imp("g", "cube"), gm=gm)
    h = {0: (step, n), 1: (step // 2, n), 2: (step, n // 2)}[split]
    ro = co = ve.c(0)
    if split:
        ln = ve.lane()
        ro = ve.mul(ln, step // 2) if split == 1 else ro
        co = ve.mul(ln, n // 2) if split == 2 else co
    st = ve.tile(vec(1, h[1]))
    ve.load(ve.part("%s", (1, n), (0, co), (1, h[1])), st)
    t = ve.tile(vec(*h))
    u = ve.tile(vec(*h))
    i = ve.for_(0, k, step)
    ve.load(ve.part("%q", (k, n), (ve.add(i, ro), co), h), t)
    ve.t1("tcolexpandmul", t, u, st)
    ve.push(u, 0, split)
    ve.end()
    am = cu.tile(mat(m, step))
    lhs = cu.tile(left(m, step))
    r = cu.tile(right(step, n))
    o = cu.tile(acc(m, n))

    def body(i, first):
        cu.load(cu.part("%a", (m, k), (0, i), (m, step)), am)
        cu.mov(am, lhs)
        e = cu.pop(mat(step, n), 0, split)
        cu.mov(e, r)
        cu.free(0, split)
        (cu.mm if first else cu.mmacc)(lhs, r, o)

    body(cu.c(0), True)
    i = cu.for_(step, k, step)
    body(i, False)
    cu.end()
    cu.store(o, cu.part("%out", (m, n), (0, 0), (m, n)))
    A, q, s = rnd(m, k), rnd(k, n), rnd(1, n)
    args = {
        "a": A,
        "q": q,
        "s": s,
        "out": np.zeros((m, n), np.float32),
        "slots": np.zeros(size * slots // 4, np.float32),
    }
    return Case(name, module("a5" if arch == "a5" else "a3", cu, ve), arch, args, "out", A @ (q * s))


def attention(name, arch, split, rounds=4, q=32, d=32, kv=32, slots=2, ahead=False):
    """The sum over rounds of exp(scale * (q @ k_r)) @ v_r, divided by the row sums.

    Two pipes to the vector cores, for scores and products, and one back, for probabilities; with `ahead`, scores are
    computed a round ahead.
    """
    gm = None if arch == "a5" else "%slots"
    cu = K("cube", "cube", [("%q", P), ("%k", P), ("%v", P), ("%slots", P), ("%slots1", P), ("%slots2", P)])
    ve = K("vec", "vector", [("%out", P), ("%slots", P), ("%slots1", P), ("%slots2", P)])
    s1, s2, s3 = q * kv * 4, q * kv * 4, q * d * 4
    cu.open(0, 1, s1, slots, c2v=cu.imp("scores", "vec"), gm=gm)
    ve.open(0, 1, s1, slots, c2v=ve.reserve("scores", s1 * slots, "vec"), gm=gm)
    cu.open(1, 2, s2, slots, v2c=cu.reserve("probs", s2 * slots, "mat"), gm=gm and "%slots1")
    ve.open(1, 2, s2, slots, v2c=ve.imp("probs", "cube"), gm=gm and "%slots1")
    cu.open(2, 1, s3, slots, c2v=cu.imp("prods", "vec"), gm=gm and "%slots2")
    ve.open(2, 1, s3, slots, c2v=ve.reserve("prods", s3 * slots, "vec"), gm=gm and "%slots2")
    qm = cu.tile(mat(q, d))
    ql = cu.tile(left(q, d))
    cu.load(cu.part("%q", (q, d), (0, 0), (q, d)), qm)
    cu.mov(qm, ql)
    km = cu.tile(mat(d, kv))
    kr = cu.tile(right(d, kv))
    vm = cu.tile(mat(kv, d))
    vr = cu.tile(right(kv, d))
    pl = cu.tile(left(q, kv))
    so = cu.tile(acc(q, kv))
    po = cu.tile(acc(q, d))

    def scores(r):
        cu.load(cu.part("%k", (rounds * d, kv), (cu.mul(r, d), 0), (d, kv)), km)
        cu.mov(km, kr)
        cu.mm(ql, kr, so)
        cu.push(so, 0, split)

    def prods(r):
        cu.load(cu.part("%v", (rounds * kv, d), (cu.mul(r, kv), 0), (kv, d)), vm)
        cu.mov(vm, vr)
        e = cu.pop(mat(q, kv), 1, split)
        cu.mov(e, pl)
        cu.free(1, split)
        cu.mm(pl, vr, po)
        cu.push(po, 2, split)

    if ahead:
        scores(cu.c(0))
        r = cu.for_(1, rounds)
        scores(r)
        prods(cu.bin("subi", r, 1))
        cu.end()
        prods(cu.c(rounds - 1))
    else:
        r = cu.for_(0, rounds)
        scores(r)
        prods(r)
        cu.end()
    hq = q // 2 if split == 1 else q
    row = ve.c(0)
    if split == 1:
        ln = ve.lane()
        row = ve.mul(ln, hq)
    x = ve.tile(vec(hq, kv))
    p = ve.tile(vec(hq, kv))
    tmp = ve.tile(vec(hq, kv))
    sm = ve.tile(column(hq))
    tot = ve.tile(column(hq))
    oacc = ve.tile(vec(hq, d))
    onew = ve.tile(vec(hq, d))
    ve.fill(0.0, tot)
    ve.fill(0.0, oacc)

    def soft():
        e = ve.pop(vec(hq, kv), 0, split)
        ve.ts("tmuls", e, 0.1, x)
        ve.free(0, split)
        ve.t1("texp", x, p)
        ve.t1("trowsum", p, sm, tmp)
        ve.t1("tadd", tot, tot, sm)
        ve.push(p, 1, split)

    def take():
        e = ve.pop(vec(hq, d), 2, split)
        ve.t1("tadd", oacc, oacc, e)
        ve.free(2, split)

    if ahead:
        soft()
        ve.for_(1, rounds)
        soft()
        take()
        ve.end()
        take()
    else:
        ve.for_(0, rounds)
        soft()
        take()
        ve.end()
    ve.t1("trowexpanddiv", oacc, onew, tot)
    ve.store(onew, ve.part("%out", (q, d), (row, 0), (hq, d)))
    Q, Kx, V = rnd(q, d), rnd(rounds * d, kv), rnd(rounds * kv, d)
    o = np.zeros((q, d))
    t = np.zeros((q, 1))
    for r in range(rounds):
        pr = np.exp(0.1 * (Q @ Kx[r * d : (r + 1) * d]))
        t += pr.sum(1, keepdims=True)
        o += pr @ V[r * kv : (r + 1) * kv]
    args = {
        "q": Q,
        "k": Kx,
        "v": V,
        "out": np.zeros((q, d), np.float32),
        "slots": np.zeros(s1 * slots // 4, np.float32),
        "slots1": np.zeros(s2 * slots // 4, np.float32),
        "slots2": np.zeros(s3 * slots // 4, np.float32),
    }
    return Case(
        name, module("a5" if arch == "a5" else "a3", cu, ve), arch, args, "out", (o / t).astype(np.float32), rtol=1e-3
    )


def tensors(name, rounds=6, m=16, n=32, slots=4):
    """Slots that are tensors in global memory on a2 and a3: the cube core stores products there, vector cores load."""
    T = f"!pto.tensor_view<{m}x{n}xf32>"
    cu = K("cube", "cube", [("%a", P), ("%b", P), ("%slots", P)])
    ve = K("vec", "vector", [("%out", P), ("%slots", P)])
    for kk in (cu, ve):
        v = kk.op(
            f"pto.make_tensor_view %slots, shape = [{kk.c(m)}, {kk.c(n)}], strides = [{kk.c(n)}, {kk.c(1)}] : {T}", "w"
        )
        core = "aic" if kk is cu else "aiv"
        settings = f"{{id = 0, dir_mask = 1, slot_size = {m * n * 4}, slot_num = {slots}}}"
        kk.do(f"pto.{core}_initialize_pipe {settings} (gm_slot_tensor = {v} : {T})")
    am = cu.tile(mat(m, m))
    bm = cu.tile(mat(m, n))
    lhs = cu.tile(left(m, m))
    r = cu.tile(right(m, n))
    o = cu.tile(acc(m, n))
    cu.load(cu.part("%b", (m, n), (0, 0), (m, n)), bm)
    cu.mov(bm, r)
    i = cu.for_(0, rounds * m, m)
    cu.load(cu.part("%a", (rounds * m, m), (i, 0), (m, m)), am)
    cu.mov(am, lhs)
    cu.mm(lhs, r, o)
    e = cu.op(f"pto.talloc_to_aiv {{id = 0, split = 0}} -> {T}", "e")
    cu.types[e] = T
    cu.store(o, cu.sub(e, T, (0, 0), (m, n)))
    cu.do(f"pto.tpush_to_aiv({e} : {T}) {{id = 0, split = 0}}")
    cu.end()
    t = ve.tile(vec(m, n))
    u = ve.tile(vec(m, n))
    i = ve.for_(0, rounds * m, m)
    e = ve.op(f"pto.tpop_from_aic {{id = 0, split = 0}} -> {T}", "e")
    ve.load(ve.sub(e, T, (0, 0), (m, n)), t)
    ve.do(f"pto.tfree_from_aic({e} : {T}) {{id = 0, split = 0}}")
    ve.t1("tneg", t, u)
    ve.store(u, ve.part("%out", (rounds * m, n), (i, 0), (m, n)))
    ve.end()
    A, B = rnd(rounds * m, m), rnd(m, n)
    return Case(
        name,
        module("a3", cu, ve),
        "a2a3",
        {"a": A, "b": B, "out": np.zeros((rounds * m, n), np.float32), "slots": np.zeros(m * n * slots, np.float32)},
        "out",
        -(A @ B),
    )


def causal(name, arch, n=5, slots=4):
    """Row r of blocks sums r + 1 products: both ends run a triangular nest for any %n."""
    gm = None if arch == "a5" else "%slots"
    m = 16
    cu = K("cube", "cube", [("%a", P), ("%b", P), ("%n", "index"), ("%slots", P)])
    ve = K("vec", "vector", [("%out", P), ("%n", "index"), ("%slots", P)])
    size = m * m * 4
    cu.open(0, 1, size, slots, c2v=cu.imp("f", "vec"), gm=gm)
    ve.open(0, 1, size, slots, c2v=ve.reserve("f", size * slots, "vec"), gm=gm)
    am = cu.tile(mat(m, m))
    bm = cu.tile(mat(m, m))
    lhs = cu.tile(left(m, m))
    r = cu.tile(right(m, m))
    o = cu.tile(acc(m, m))
    rows = cu.mul("%n", m)
    vrows = ve.mul("%n", m)
    i = cu.for_(0, "%n")
    cu.load(cu.part("%a", (rows, m), (cu.mul(i, m), 0), (m, m)), am)
    cu.mov(am, lhs)
    j = cu.for_(0, cu.add(i, 1))
    cu.load(cu.part("%b", (rows, m), (cu.mul(j, m), 0), (m, m)), bm)
    cu.mov(bm, r)
    cu.mm(lhs, r, o)
    cu.push(o, 0, 0)
    cu.end()
    cu.end()
    t = ve.tile(vec(m, m))
    i = ve.for_(0, "%n")
    ve.fill(0.0, t)
    ve.for_(0, ve.add(i, 1))
    e = ve.pop(vec(m, m))
    ve.t1("tadd", t, t, e)
    ve.free()
    ve.end()
    ve.store(t, ve.part("%out", (vrows, m), (ve.mul(i, m), 0), (m, m)))
    ve.end()
    A, B = rnd(n * m, m), rnd(n * m, m)
    g = np.zeros((n * m, m), np.float32)
    for i in range(n):
        for j in range(i + 1):
            g[i * m : (i + 1) * m] += A[i * m : (i + 1) * m] @ B[j * m : (j + 1) * m]
    return Case(
        name,
        module("a5" if arch == "a5" else "a3", cu, ve),
        arch,
        {
            "a": A,
            "b": B,
            "n": n,
            "out": np.zeros((n * m, m), np.float32),
            "slots": np.zeros(size * slots // 4, np.float32),
        },
        "out",
        g,
    )


def odd(name, split, m=5, n=32, rounds=3):
    """Odd splits: the first vector core gets one row, or column, more."""
    if split == 4:
        m, n = 16, 31
    cu = K("cube", "cube", [("%a", P), ("%b", P), ("%slots", P)])
    ve = K("vec", "vector", [("%out", P), ("%slots", P)])
    R, C = 16, 32
    size = R * C * 4
    cu.open(0, 1, size, 2, c2v=cu.imp("f", "vec"), gm="%slots")
    ve.open(0, 1, size, 2, c2v=ve.reserve("f", size * 2, "vec"), gm="%slots")
    am = cu.tile(mat(R, 16, valid=(m, 16)))
    bm = cu.tile(mat(16, C, valid=(16, n)))
    lhs = cu.tile(left(R, 16, valid=(m, 16)))
    r = cu.tile(right(16, C, valid=(16, n)))
    o = cu.tile(acc(R, C, valid=(m, n)))
    cu.load(cu.part("%b", (16, n), (0, 0), (16, n)), bm)
    cu.mov(bm, r)
    i = cu.for_(0, rounds)
    cu.load(cu.part("%a", (rounds * m, 16), (cu.mul(i, m), 0), (m, 16)), am)
    cu.mov(am, lhs)
    cu.mm(lhs, r, o)
    cu.push(o, 0, split)
    cu.end()
    ln = ve.lane()
    if split == 3:
        rows = ve.bin("subi", (m + 1) // 2, ln)
        cols = ve.c(n)
        ro = ve.mul(ln, (m + 1) // 2)
        co = ve.c(0)
    else:
        cols = ve.bin("subi", (n + 1) // 2, ln)
        rows = ve.c(m)
        co = ve.mul(ln, (n + 1) // 2)
        ro = ve.c(0)
    vt = vec(R, C).replace("v_row=16", "v_row=?").replace("v_col=32", "v_col=?")
    u = ve.tile(vt, vr=rows, vc=cols)
    i = ve.for_(0, rounds)
    e = ve.pop(vt, 0, split, (rows, cols))
    ve.ts("tadds", e, 1.0, u)
    ve.free(0, split)
    part = ve.part("%out", (rounds * m, n), (ve.add(ve.mul(i, m), ro), co), (rows, cols))
    ve.lines[-1] = ve.lines[-1].replace("partition_tensor_view<" + f"{rows}x{cols}", "x")
    ve.store(u, part)
    ve.end()
    A, B = rnd(rounds * m, 16), rnd(16, n)
    text = module("a3", cu, ve)
    return Case(
        name,
        text,
        "a2a3",
        {"a": A, "b": B, "out": np.zeros((rounds * m, n), np.float32), "slots": np.zeros(size * 2 // 4, np.float32)},
        "out",
        A @ B + 1,
    )


def softmax(name, arch, m=32, n=64, blocks=1):
    """Rows of a softmax on the vector cores alone."""
    ve = K("vec", "vector", [("%x", P), ("%out", P)])
    h = m // 2
    b = ve.block() if blocks > 1 else ve.c(0)
    ln = ve.lane()
    row = ve.add(ve.mul(b, m), ve.mul(ln, h))
    col = column(h)
    x = ve.tile(vec(h, n))
    t = ve.tile(vec(h, n))
    mx = ve.tile(col)
    sm = ve.tile(col)
    y = ve.tile(vec(h, n))
    z = ve.tile(vec(h, n))
    w = ve.tile(vec(h, n))
    ve.load(ve.part("%x", (m * blocks, n), (row, 0), (h, n)), x)
    ve.t1("trowmax", x, mx, t)
    ve.t1("trowexpandsub", x, y, mx)
    ve.t1("texp", y, z)
    ve.t1("trowsum", z, sm, t)
    ve.t1("trowexpanddiv", z, w, sm)
    ve.store(w, ve.part("%out", (m * blocks, n), (row, 0), (h, n)))
    X = rnd(m * blocks, n)
    e = np.exp(X - X.max(1, keepdims=True))
    return Case(
        name,
        module("a5" if arch == "a5" else "a3", ve),
        arch,
        {"x": X, "out": np.zeros_like(X)},
        "out",
        e / e.sum(1, keepdims=True),
        blocks,
    )


def matmul(name, arch, m=64, k=64, n=64, blocks=1):
    """The cube core alone, K in two steps, each block rows of its own."""
    cu = K("cube", "cube", [("%a", P), ("%b", P), ("%out", P)])
    b = cu.block() if blocks > 1 else cu.c(0)
    row = cu.mul(b, m)
    am = cu.tile(mat(m, k // 2))
    bm = cu.tile(mat(k // 2, n))
    lhs = cu.tile(left(m, k // 2))
    r = cu.tile(right(k // 2, n))
    o = cu.tile(acc(m, n))
    for q in (0, 1):
        cu.load(cu.part("%a", (m * blocks, k), (row, q * k // 2), (m, k // 2)), am)
        cu.load(cu.part("%b", (k, n), (q * k // 2, 0), (k // 2, n)), bm)
        cu.mov(am, lhs)
        cu.mov(bm, r)
        (cu.mm, cu.mmacc)[q](lhs, r, o)
    cu.store(o, cu.part("%out", (m * blocks, n), (row, 0), (m, n)))
    A, B = rnd(m * blocks, k), rnd(k, n)
    return Case(
        name,
        module("a5" if arch == "a5" else "a3", cu),
        arch,
        {"a": A, "b": B, "out": np.zeros((m * blocks, n), np.float32)},
        "out",
        A @ B,
        blocks,
    )


def cases():
    yield gemm("bias whole a5", "a5", 0)
    yield gemm("bias rows a5", "a5", 1)
    yield gemm("relu columns a5", "a5", 2, n=64)
    yield gemm("bias whole a3", "a2a3", 0)
    yield gemm("scale rows a3", "a2a3", 1)
    yield gemm("exp columns a3", "a2a3", 2)
    yield gemm("square, one slot", "a2a3", 1, slots=1, epilogue="square")
    yield gemm("K in steps", "a5", 1, k=64, ksteps=2, epilogue="relu")
    yield gemm("blocks a3", "a2a3", 1, blocks=3)
    yield gemm("blocks a5", "a5", 1, blocks=4, epilogue="scale")
    yield gemm("any rows a3", "a2a3", 1, dynamic=True)
    yield gemm("any rows a5", "a5", 0, dynamic=True, m=160)
    yield gemm("many rounds", "a5", 0, m=512, slots=8)
    yield gemm("few local slots", "a2a3", 1, m=256, slots=4, local=2)
    yield dequant("dequantize rows a3", "a2a3", 1)
    yield dequant("dequantize columns a5", "a5", 2)
    yield dequant("dequantize whole a5", "a5", 0)
    yield attention("attention a5", "a5", 1)
    yield attention("attention a3", "a2a3", 1)
    yield attention("attention ahead a5", "a5", 1, ahead=True)
    yield attention("attention ahead a3", "a2a3", 0, ahead=True)
    yield tensors("slots that are tensors")
    yield causal("causal a3", "a2a3")
    yield causal("causal a5", "a5")
    yield odd("odd rows", 3)
    yield odd("odd columns", 4)
    yield softmax("softmax", "a2a3")
    yield softmax("softmax blocks", "a5", blocks=3)
    yield matmul("matmul", "a2a3")
    yield matmul("matmul blocks", "a5", blocks=2)
