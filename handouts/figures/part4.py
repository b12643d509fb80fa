"""The figures and tables of Part 4, from part4.json."""

import json
import pathlib

from shapes import LIMITERS, line, rectangle, svg, text, three_digits

HERE = pathlib.Path(__file__).resolve().parent

def data():
    return json.loads((HERE / "part4.json").read_text())


def workload(name):
    return next(run for run in data()["workloads"] if run["workload"] == name)


def megabytes(count):
    return f"{three_digits(count / 1e6)} MB"


# ---- tables ----

def gelu_table():
    lines = ["| GELU in bf16, A100 (modelled) | launches | DRAM traffic | time |", "|---|---|---|---|"]
    for power in (16, 24):
        for form, words in (("eager", "eight kernels"), ("fused", "one kernel")):
            run = workload(f"gelu {form} {1 << power}")
            lines.append(f"| 2^{power} elements, {words} | {run['launches']} | {megabytes(run['dram_bytes'])} | "
                         f"{three_digits(run['time_us'])} µs |")
    return "\n".join(lines) + "\n"


def graph_table():
    lines = ["| one decode step, half, A100 (modelled) | host launches | kernels | time |", "|---|---|---|---|"]
    for form, words in (("eager", "launch by launch"), ("graph", "replayed as a graph")):
        run = workload(f"decode {form}")
        lines.append(f"| {words} | {run['launches']} | {run['kernels']} | {three_digits(run['time_us'])} µs |")
    return "\n".join(lines) + "\n"


def run_table():
    """Where the time of the estimated MLP goes, as run_mlp takes it apart."""
    run = data()["run_mlp"]
    rows = (("one kernel at the roofs", "estimate"), ("intermediates of four kernels", "intermediates"),
            ("rest: kernels below their roofs", "rest"), ("idle", "idle"), ("**mean of a call**", "mean"))
    lines = ["| 32 tokens, 4096 wide inside 8192, bf16, A100 | modelled |", "|---|---|"]
    for words, part in rows:
        lines.append(f"| {words} | {max(run[part], 0):.1f} µs |")
    return "\n".join(lines) + "\n"


def time_table():
    """What the solutions reach. A call of several kernels: the limit is that of the one that takes longest."""
    lines = ["| task | timed case | launches | DRAM bytes, of the least | time (modelled) | least time | "
             "of the roofline | limited by |", "|---|---|---|---|---|---|---|---|"]
    for run in data()["timings"]:
        sampled = ", sampled" if run["sampled"] else ""
        lines.append(f"| `{run['task']}` | {run['name']} | {run['launches']} | "
                     f"{run['dram_bytes'] / run['compulsory']:.2f} | {three_digits(run['time_us'])} µs{sampled} | "
                     f"{three_digits(run['roofline_us'])} µs | {100 * run['roofline_us'] / run['time_us']:.0f} % | "
                     f"{LIMITERS[run['limiter']]} |")
    return "\n".join(lines) + "\n"


# ---- pictures ----

SHOWN_US = 175  # of a step, from the host's first call


def timeline(body, top, title, run, left, width):
    """Two rows, the host's calls and the GPU's kernels, over the microseconds since the first call."""
    begin = run["host"][0][0]
    scale = width / SHOWN_US
    body.append(text(16, top, title, "strong"))
    for offset, where, words, kind in ((12, "host", "host", "poor cell"), (44, "device", "GPU", "good cell")):
        body.append(text(16, top + offset + 17, words))
        body.append(rectangle(left, top + offset, width, 24, "idle"))
        for start, duration in run[where]:
            body.append(rectangle(left + (start - begin) * scale, top + offset, max(duration * scale, 0.8), 24, kind))
    last = max(start + duration for start, duration in run["device"]) - begin
    # Behind a graph's first launch the GPU still works on the one before: the step's own span is what counts.
    body.append(text(left + width, top, f"done after {last:.0f} µs", "soft", "end"))


def alone(run):
    """The step as if nothing were under way when its first call is made."""
    begin, first = run["host"][0], run["device"][0][0]
    waiting = first - (begin[0] + begin[1])
    return {"host": run["host"], "device": [[start - max(0, waiting - 1), duration]
                                            for start, duration in run["device"]]}


def timeline_figure():
    width, left, plot_width = 736, 64, 640
    body = []
    timeline(body, 30, "Launch by launch: 71 calls of the host", workload("decode eager"), left, plot_width)
    timeline(body, 134, "As a graph: one call", alone(workload("decode graph")), left, plot_width)
    axis = 226
    for microseconds in range(0, SHOWN_US + 1, 25):
        x = left + microseconds * plot_width / SHOWN_US
        body.append(line(x, axis - 14, x, axis - 8, "roof"))
        body.append(text(x, axis + 6, f"{microseconds} µs", "soft", "middle"))
    return svg(width, axis + 24, "A decode step on the host and on the GPU, launched one by one and as a graph", body)


def blocks():
    return {"gelu": gelu_table(), "graph": graph_table(), "run": run_table(), "times": time_table()}


def pictures(_plot):
    return {"part4-timeline.svg": timeline_figure()}
