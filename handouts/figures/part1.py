"""The figures and the table of times of Part 1, from part1.json."""

import json
import pathlib
import tomllib

from shapes import LIMITERS, rate, rectangle, svg, text, three_digits

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

SECTOR_BYTES = 32
FLOATS_PER_SECTOR = SECTOR_BYTES // 4


def performance(run):
    return run["flops"] / (run["time_us"] * 1e-6)


def intensity(run):
    return run["flops"] / run["bytes"]


# What the figure calls each run.
LABELS = {
    "gemm_wmma": "gemm_wmma",
    "gemm_registers": "gemm_registers",
    "gemm_tiled": "gemm_tiled",
    "gemm_naive": "gemm_naive",
    "gemv": "gemv",
    "gemv_thread_per_row": "gemv, a thread for each row",
}


def roofline(runs, gpu):
    """The roofs of the GPU, and each kernel at its compulsory intensity and modelled rate, as a chart of plot.h."""
    peaks = gpu["peak_tflops"]
    return {
        "chart": "roofline",
        "title": f"Kernels of Part 1 on the {gpu['name']}",
        "roofs": [{"label": "fp32", "flops_per_second": peaks["fp32"] * 1e12},
                  {"label": "bf16 on tensor cores", "flops_per_second": peaks["bf16_tensor"] * 1e12}],
        "memory": [{"label": "DRAM", "bytes_per_second": gpu["memory"]["dram_gb_per_s"] * 1e9}],
        "points": [{"label": label, "intensity": intensity(runs[key]), "flops_per_second": performance(runs[key]),
                    "kind": "modelled"} for key, label in LABELS.items()],
    }


def lanes_and_sectors(body, top, title, sectors, kind):
    """32 lanes above the sectors of memory that their one request touches; of each the used part is coloured."""
    left, most, gap = 16, 6, 6  # at most six sectors fit, with a gap after each
    cell = 13 if sectors <= most else 8.4
    body.append(text(left, top, title, "strong"))
    used_floats = 32 / sectors
    shown = min(sectors, most)
    for sector in range(shown):
        for k in range(FLOATS_PER_SECTOR):
            x = left + (sector * FLOATS_PER_SECTOR + k) * cell + sector * gap
            body.append(rectangle(x, top + 10, cell, 18, f"{kind if k < used_floats else 'idle'} cell"))
    if shown < sectors:
        body.append(text(left + shown * (FLOATS_PER_SECTOR * cell + gap) - 2, top + 24, "…", "strong"))
    wasted = 100 * (1 - 32 * 4 / (sectors * SECTOR_BYTES))
    use = "every byte is used" if wasted == 0 else f"{wasted:g} % of the bytes are thrown away"
    words = f"{sectors} sectors for 32 lanes: {use}"
    body.append(text(left, top + 48, words, "soft"))


def sectors_figure(runs):
    """What one request touches, and what that does to a matrix-vector product, counted by the grader."""
    width, height = 480, 372
    columns, rows = runs["gemv_thread_per_row"], runs["gemv"]
    # Each step of a thread that owns a row makes two requests: one of A, and one of x, the same element for all
    # lanes, which is a single sector.
    per_matrix = columns["load_requests"] / 2
    down_a_column = round((columns["load_sectors"] - per_matrix) / per_matrix)
    # A lane of the coalesced product loads float4, four times the 4 bytes of the picture.
    along_a_row = round(rows["load_sectors"] / rows["load_requests"] / 4)
    body = []
    lanes_and_sectors(body, 28, "Along a row: lane i reads A[row][i]", along_a_row, "good")
    lanes_and_sectors(body, 108, "Down a column: lane i reads A[i][k]", down_a_column, "poor")
    body.append(text(16, 196, "y = A x with A of 8192 x 4096: bytes from DRAM, and time", "strong"))
    largest = columns["dram_bytes"]
    bars = [("least traffic", rows["bytes"], None, "idle"),
            ("a warp for each row", rows["dram_bytes"], rows["time_us"], "good"),
            ("a thread for each row", columns["dram_bytes"], columns["time_us"], "poor")]
    for index, (name, amount, time_us, kind) in enumerate(bars):
        y = 214 + index * 46
        time = f", {three_digits(time_us)} µs" if time_us else ""
        body += [text(16, y + 10, f"{name}: {three_digits(amount / 1e6)} MB{time}", ""),
                 rectangle(16, y + 16, (width - 32) * amount / largest, 14, kind)]
    body.append(text(16, height - 12, "Counted and modelled on the simulated A100, rows 16 KiB apart.", "soft"))
    return svg(width, height, "Sectors of a request along a row and down a column", body)


ROWS = [
    ("gemm_naive", "`gemm_naive`", "1024 x 1024 x 1024"),
    ("gemm_tiled", "`gemm_tiled`", "1024 x 1024 x 1024"),
    ("gemm_registers", "`gemm_registers`", "2048 x 2048 x 256"),
    ("gemm_wmma", "`gemm_wmma`", "1024 x 1024 x 1024"),
    ("gemv", "`gemv`", "8192 x 4096"),
    ("gemv_thread_per_row", "`gemv`, a thread for each row", "8192 x 4096"),
]


def table(runs):
    lines = ["| kernel | M x N x K, or M x K | time (modelled) | rate | of the roofline | limited by |",
             "|---|---|---|---|---|---|"]
    for key, name, size in ROWS:
        run = runs[key]
        lines.append(f"| {name} | {size} | {three_digits(run['time_us'])} µs | {rate(performance(run))} | "
                     f"{100 * run['roofline_us'] / run['time_us']:.0f} % | {LIMITERS[run['limiter']]} |")
    return "\n".join(lines) + "\n"


def study_table(chart):
    """A row for each size, in microseconds."""
    curves = {series["label"]: series["values"] for series in chart["latency_ms"]}
    lines = ["| M = N = K | " + " | ".join(f"`{label}`" for label in curves) + " | tiled / naive |",
             "|---" * (len(curves) + 2) + "|"]
    for i, size in enumerate(chart["x"]):
        times = [f"{three_digits(1e3 * values[i])} µs" for values in curves.values()]
        lines.append(f"| {size} | " + " | ".join(times) + f" | {curves['tiled'][i] / curves['naive'][i]:.2f} |")
    return "\n".join(lines) + "\n"


def data():
    return json.loads((HERE / "part1.json").read_text())


def blocks():
    return {"times": table(data()["runs"]), "study": study_table(data()["study"])}


def pictures(plot):
    gpu = tomllib.loads((ROOT / "specs/gpus/a100.toml").read_text())
    runs, study = data()["runs"], data()["study"]
    return {"part1-roofline.svg": plot(roofline(runs, gpu)), "part1-sectors.svg": sectors_figure(runs),
            "part1-study.svg": plot(study)}
