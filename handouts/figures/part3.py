"""The figures and tables of Part 3, from specs/models/gemma3-270m.toml, the A100's file and part3.json."""

import json
import pathlib
import tomllib

from shapes import LIMITERS, line, rectangle, svg, text, three_digits

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

BYTES_PER_ELEMENT = 2  # bf16


def model():
    return tomllib.loads((ROOT / "specs/models/gemma3-270m.toml").read_text())


def a100():
    return tomllib.loads((ROOT / "specs/gpus/a100.toml").read_text())


# ---- costs, as interface/cost.h counts them with fused kernels ----

def keys_of_queries(queries, keys, window):
    """How many keys each of the newest `queries` of `keys` tokens sees."""
    return [min(position + 1, window or position + 1) for position in range(keys - queries, keys)]


def kernels(layer, batch, queries, keys, window):
    """Of each kernel of a layer: whether it multiplies matrices, its MACs, FLOPs and bytes."""
    hidden, intermediate, dim = layer["hidden"], layer["intermediate"], layer["head_dim"]
    query_width, key_width = layer["query_heads"] * dim, layer["key_value_heads"] * dim
    tokens = batch * queries

    def kernel(macs, other_flops, elements):
        return macs > 0, macs, 2 * macs + other_flops, BYTES_PER_ELEMENT * elements

    for into, out in [(hidden, query_width), (hidden, key_width), (hidden, key_width), (query_width, hidden),
                      (hidden, intermediate), (hidden, intermediate), (intermediate, hidden)]:
        yield kernel(tokens * into * out, 0, tokens * into + into * out + tokens * out)

    pairs = batch * sum(keys_of_queries(queries, keys, window))
    seen = min(keys, queries + window - 1) if window else keys
    yield kernel(2 * query_width * pairs, 5 * layer["query_heads"] * pairs,
                 2 * tokens * query_width + 2 * batch * seen * key_width)

    norms = 4 * [(tokens, hidden)] + [(tokens * layer["query_heads"], dim), (tokens * layer["key_value_heads"], dim)]
    for rows, width in norms:
        yield kernel(0, rows * (5 * width + 3), 2 * rows * width + width)
    turned = tokens * (query_width + key_width)
    yield kernel(0, 3 * turned, 2 * turned)
    yield kernel(0, 9 * tokens * intermediate, 3 * tokens * intermediate)
    for _ in range(2):  # residual additions
        yield kernel(0, tokens * hidden, 3 * tokens * hidden)


class Pass:
    """What a layer needs when `queries` new tokens of each of `batch` texts, `keys` tokens long with them, go through
    it, and how long its kernels take at least, one after the other."""

    def __init__(self, words, batch, queries, keys, local):
        gemma, gpu = model(), a100()
        self.words = words
        self.macs = self.flops = self.bytes = self.seconds = self.memory_seconds = 0
        bandwidth = gpu["memory"]["dram_gb_per_s"] * 1e9
        window = gemma["local"]["window"] if local else 0
        for product, macs, flops, moved in kernels(gemma["layer"], batch, queries, keys, window):
            compute = flops / (gpu["peak_tflops"]["bf16_tensor" if product else "fp32"] * 1e12)
            memory = moved / bandwidth
            self.macs, self.flops, self.bytes = self.macs + macs, self.flops + flops, self.bytes + moved
            self.seconds += max(compute, memory)
            self.memory_seconds += memory if memory > compute else 0


def passes():
    return [Pass("prefill, 128 tokens", 1, 128, 128, False),
            Pass("prefill, 2048 tokens", 1, 2048, 2048, False),
            Pass("prefill, 2048 tokens, local layer", 1, 2048, 2048, True),
            Pass("decode, batch 1", 1, 1, 1024, False),
            Pass("decode, batch 16", 16, 1, 1024, False),
            Pass("decode, batch 256", 256, 1, 1024, False),
            Pass("decode, batch 256, local layer", 256, 1, 1024, True)]


def roofline():
    gpu = a100()
    points = [{"label": run.words, "intensity": run.flops / run.bytes, "kind": "predicted",
               "flops_per_second": run.flops / run.seconds} for run in passes()]
    return {"chart": "roofline", "title": f"One layer of {model()['name']} in bf16 on the {gpu['name']}",
            "roofs": [{"label": "bf16 on tensor cores", "flops_per_second": gpu["peak_tflops"]["bf16_tensor"] * 1e12}],
            "memory": [{"label": "DRAM", "bytes_per_second": gpu["memory"]["dram_gb_per_s"] * 1e9}], "points": points}


# ---- tables ----

def amount(value, unit):
    for scale, prefix in [(1e9, "G"), (1e6, "M"), (1e3, "K")]:
        if value >= scale:
            return f"{three_digits(value / scale)} {prefix}{unit}"
    return f"{value} {unit}"


def cost_table():
    lines = ["| one layer, bf16, A100 | MACs | bytes | FLOP/B | least time | of it waiting for DRAM |",
             "|---|---|---|---|---|---|"]
    lines += [f"| {run.words} | {amount(run.macs, '').strip()} | {amount(run.bytes, 'B')} | "
              f"{three_digits(run.flops / run.bytes)} | {three_digits(1e6 * run.seconds)} µs | "
              f"{100 * run.memory_seconds / run.seconds:.0f} % |" for run in passes()]
    return "\n".join(lines) + "\n"


def weight_table():
    layer = model()["layer"]
    hidden, intermediate = layer["hidden"], layer["intermediate"]
    query_width, key_width = (layer[heads] * layer["head_dim"] for heads in ("query_heads", "key_value_heads"))
    rows = [("`q_proj`", query_width, hidden), ("`k_proj`, `v_proj`, each", key_width, hidden),
            ("`o_proj`", hidden, query_width), ("`gate_proj`, `up_proj`, each", intermediate, hidden),
            ("`down_proj`", hidden, intermediate)]
    lines = ["| weight | out x in | elements, and MACs for each token |", "|---|---|---|"]
    lines += [f"| {name} | {out} x {into} | {out * into:,} |" for name, out, into in rows]
    lines.append(f"| all of a layer | | {layer['linear_weights']:,} |")
    return "\n".join(lines) + "\n"


def data():
    return json.loads((HERE / "part3.json").read_text())


def study_table():
    words = {"prefill": "prefill", "decode": "decode, with a cache", "decode_without_cache": "decode, without a cache"}
    lines = ["| call | batch | tokens of a text | time (modelled) | new tokens a second | MFU |",
             "|---|---|---|---|---|---|"]
    for row in data()["study"]:
        lines.append(f"| {words[row['call']]} | {row['batch']:.0f} | {row['tokens']:.0f} | "
                     f"{three_digits(1e3 * row['ms'])} µs | {row['tokens_per_second']:,.0f} | "
                     f"{100 * row['utilisation']:.2g} % |")
    return "\n".join(lines) + "\n"


def time_table():
    """What the solutions reach. A layer is many kernels: the limit is that of the one that takes longest."""
    lines = ["| task | timed case | time (modelled) | least time | of the roofline | limited by |",
             "|---|---|---|---|---|---|"]
    for run in data()["timings"]:
        limit = ("slowest kernel: " if run["task"] == "layer" else "") + LIMITERS[run["limiter"]]
        sampled = ", sampled" if run["sampled"] else ""
        lines.append(f"| `{run['task']}` | {run['name']} | {three_digits(run['time_us'])} µs{sampled} | "
                     f"{three_digits(run['roofline_us'])} µs | {100 * run['roofline_us'] / run['time_us']:.0f} % | "
                     f"{limit} |")
    return "\n".join(lines) + "\n"


# ---- pictures ----

def mask(body, left, top, title, note, queries, keys, window):
    """A row for each new token, a column for each key; what a query sees is coloured."""
    cell = 17
    body.append(text(left, top, title, "strong"))
    seen = keys_of_queries(queries, keys, window)
    for row in range(queries):
        position = keys - queries + row
        for key in range(keys):
            visible = position - seen[row] < key <= position
            body.append(rectangle(left + key * cell, top + 10 + row * cell, cell, cell,
                                  f"{'good' if visible else 'idle'} cell"))
    body.append(text(left, top + 28 + queries * cell, f"{note}: {sum(seen)} pairs", "soft"))


def masks_figure():
    width, height = 480, 336
    body = []
    mask(body, 20, 30, "A prompt of 7 tokens", "global layer", 7, 7, 0)
    mask(body, 260, 30, "The same, window of 3", "local layer", 7, 7, 3)
    mask(body, 20, 216, "The last 3 of 10 tokens", "global layer", 3, 10, 0)
    mask(body, 260, 216, "One new token, window of 3", "local layer, decode", 1, 10, 3)
    body.append(text(20, height - 14, "Rows: queries, oldest first. Columns: keys. Coloured: seen.", "soft"))
    return svg(width, height, "Which keys a query sees", body)


def rope_figure():
    """The pairs of a head of 8, half-split and interleaved."""
    width, height, cell, left = 480, 236, 52, 32
    dim = 8

    def row(top, title, partner, kind):
        body.append(text(16, top, title, "strong"))
        first_of_pair = [i for i in range(dim) if partner(i) > i]
        base = top + 64
        for level, i in enumerate(first_of_pair):
            a, b = (left + (k + 0.5) * cell for k in (i, partner(i)))
            rise = base - 8 - 9 * level if partner(i) - i > 1 else base - 14
            body.extend([line(a, base, a, rise, f"{kind} arc"), line(a, rise, b, rise, f"{kind} arc"),
                         line(b, rise, b, base, f"{kind} arc")])
        for i in range(dim):
            body.append(rectangle(left + i * cell, base, cell, 24, "idle cell"))
            body.append(text(left + (i + 0.5) * cell, base + 17, f"x[{i}]", "", "middle"))

    body = ["<style>.arc{stroke-width:2}.good.arc{stroke:#18794e}.poor.arc{stroke:#c0362c}"
            "@media (prefers-color-scheme:dark){.good.arc{stroke:#5bc08e}.poor.arc{stroke:#ff8177}}</style>"]
    row(28, "Half-split, as here: x[i] rotates with x[i + head_dim / 2]", lambda i: (i + dim // 2) % dim, "good")
    row(138, "Interleaved, as in some other models: x[2 i] with x[2 i + 1]", lambda i: i ^ 1, "poor")
    return svg(width, height, "Pairs of RoPE in a head of 8 elements", body)


def ring_figure():
    """The slots of a cache for 8 tokens as a text grows."""
    width, capacity, cell, left = 480, 8, 45, 104
    lengths = [3, 8, 9, 13]
    height = 74 + 44 * len(lengths)
    body = [text(16, 28, "A ring of 8 slots: the token at position p lies in slot p % 8", "strong")]
    for slot in range(capacity):
        body.append(text(left + (slot + 0.5) * cell, 52, f"slot {slot}", "soft", "middle"))
    for index, length in enumerate(lengths):
        top = 62 + 44 * index
        body.append(text(16, top + 19, f"{length} tokens"))
        for slot in range(capacity):
            held = [position for position in range(length) if position % capacity == slot]
            newest = bool(held) and held[-1] == length - 1
            body.append(rectangle(left + slot * cell, top, cell, 28, f"{'good' if newest else 'idle'} cell"))
            words = str(held[-1]) if held else "·"
            body.append(text(left + (slot + 0.5) * cell, top + 19, words, "newest" if newest else "", "middle"))
    body.append("<style>.newest{fill:#fff;font-weight:600}"
                "@media (prefers-color-scheme:dark){.newest{fill:#14171a}}</style>")
    return svg(width, height, "Positions in the slots of a ring as the text grows", body)


def blocks():
    return {"weights": weight_table(), "costs": cost_table(), "study": study_table(), "times": time_table()}


def pictures(plot):
    return {"part3-masks.svg": masks_figure(), "part3-rope.svg": rope_figure(), "part3-ring.svg": ring_figure(),
            "part3-roofline.svg": plot(roofline()), "part3-decode.svg": plot(data()["decode"])}
