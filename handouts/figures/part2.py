"""The figures and tables of Part 2: the files of specs/gpus, the public part2-t4.json, and part2.json."""

import json
import math
import pathlib
import tomllib

from shapes import rate, three_digits

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

BYTES_PER_FLOAT = 4
ORDER = ["t4", "a10", "a6000", "rtx4090", "l40s", "rtx5090", "a100", "a100-80gb-sxm", "h100-pcie", "h100-sxm", "h200",
         "b200"]


def gpu_file(name):
    return tomllib.loads((ROOT / f"specs/gpus/{name}.toml").read_text())


def runs():
    return json.loads((HERE / "part2.json").read_text())


def gpus():
    """Every GPU of specs/gpus, the known ones in the order of ORDER."""
    names = {path.stem for path in (ROOT / "specs/gpus").glob("*.toml")}
    return [gpu_file(name) for name in [*filter(names.__contains__, ORDER), *sorted(names - set(ORDER))]]


def ridge(gpu, kind):
    """The ridge point in FLOP/B, or None where the GPU cannot compute in this type."""
    peak = gpu["peak_tflops"].get(kind)
    return peak and peak * 1e12 / (gpu["memory"]["dram_gb_per_s"] * 1e9)


def smallest_product(gpu, kind, bytes_per_element):
    """The least N with 2 N^3 FLOPs over 3 N^2 elements at the ridge point or right of it."""
    point = ridge(gpu, kind)
    return point and math.ceil(point * 3 * bytes_per_element / 2)


def shown(value, form="{:.1f}"):
    return form.format(value) if value else "-"


TYPES = [("fp32", "fp32", 4), ("tf32_tensor", "tf32", 4), ("fp16_tensor", "fp16", 2)]


def gpu_table():
    """For each GPU and type: the peak, the ridge point, and the smallest compute-bound product of square matrices."""
    head = ["GPU", "GB/s", "L2, MiB"]
    for _, name, _ in TYPES:
        head += [f"{name}, TFLOP/s", "ridge", "N"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for gpu in gpus():
        cells = [gpu["name"], f"{gpu['memory']['dram_gb_per_s']:g}", f"{gpu['memory']['l2_mib']:g}"]
        for kind, _, size in TYPES:
            cells += [shown(gpu["peak_tflops"].get(kind), "{:g}"), shown(ridge(gpu, kind)),
                      shown(smallest_product(gpu, kind, size), "{:d}")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def peak_table():
    """How each fp32 peak comes about, beside what the data sheet states."""
    lines = ["| GPU | SMs | lanes | boost, MHz | SMs x lanes x 2 x boost | data sheet, TFLOP/s |",
             "|---|---|---|---|---|---|"]
    for gpu in gpus():
        count, lanes, clock = gpu["sm"]["count"], gpu["sm"]["fp32_lanes"], gpu["clock"]["sm_mhz"]
        lines.append(f"| {gpu['name']} | {count} | {lanes} | {clock} | {count * lanes * 2 * clock * 1e-6:.2f} | "
                     f"{gpu['peak_tflops']['fp32']:g} |")
    return "\n".join(lines) + "\n"


def t4():
    """{operation: its work and what it reached}, of the measured runs."""
    data = json.loads((HERE / "part2-t4.json").read_text())
    elements = data["size"] ** 2
    reached = {}
    for name, run in data["runs"].items():
        seconds = run["time_us"] * 1e-6
        flops = run["flops_per_element"] * elements
        moved = run["matrices_moved"] * elements * BYTES_PER_FLOAT
        reached[name] = {"flops": flops, "bytes": moved, "seconds": seconds, "intensity": flops / moved,
                         "flops_per_second": flops / seconds, "bytes_per_second": moved / seconds}
    return reached


def t4_table():
    gpu = gpu_file("t4")
    peak, bandwidth = gpu["peak_tflops"]["fp32"] * 1e12, gpu["memory"]["dram_gb_per_s"] * 1e9
    lines = ["| operation | moves | time (measured) | bandwidth | of 320 GB/s | FLOP/B | rate | of 8.1 TFLOP/s |",
             "|---|---|---|---|---|---|---|---|"]
    for name, run in t4().items():
        rated = ["-", "-"]  # what does no arithmetic has no rate
        if run["flops"] > 0:
            rated = [rate(run["flops_per_second"]), f"{three_digits(100 * run['flops_per_second'] / peak)} %"]
        lines.append("| " + " | ".join([
            name, f"{run['bytes'] / 1e6:.0f} MB", f"{run['seconds'] * 1e3:.4g} ms",
            f"{three_digits(run['bytes_per_second'] / 1e9)} GB/s",
            f"{100 * run['bytes_per_second'] / bandwidth:.0f} %", f"{run['intensity']:.4g}", *rated]) + " |")
    return "\n".join(lines) + "\n"


def roofs(gpu, kinds):
    return [{"label": label, "flops_per_second": gpu["peak_tflops"][kind] * 1e12} for kind, label in kinds.items()]


def level(gpu, name):
    return {"label": name, "bytes_per_second": gpu["memory"][f"{name.lower()}_gb_per_s"] * 1e9}


def t4_chart():
    """What the roofline predicts and what was measured, joined by a line for each operation."""
    gpu = gpu_file("t4")
    peak, bandwidth = gpu["peak_tflops"]["fp32"] * 1e12, gpu["memory"]["dram_gb_per_s"] * 1e9
    points = []
    for name in ("matmul", "sum", "mul"):
        run = t4()[name]
        label = f"{name} 8192"
        points += [{"label": label, "intensity": run["intensity"], "kind": "predicted",
                    "flops_per_second": min(peak, run["intensity"] * bandwidth)},
                   {"label": label, "intensity": run["intensity"], "kind": "measured",
                    "flops_per_second": run["flops_per_second"]}]
    return {"chart": "roofline", "title": "PyTorch in fp32 on a T4",
            "roofs": roofs(gpu, {"fp32": "fp32", "fp16_tensor": "fp16 on tensor cores"}),
            "memory": [level(gpu, "DRAM")], "points": points}


def levels_chart():
    """One GPU with several roofs: types are flat, memory levels slanted."""
    gpu = gpu_file("a100")
    peaks = {kind: gpu["peak_tflops"][kind] * 1e12 for kind in ("fp32", "tf32_tensor", "bf16_tensor")}
    dram, l2 = level(gpu, "DRAM"), level(gpu, "L2")

    def point(label, intensity, kind, memory):
        return {"label": label, "intensity": intensity, "kind": "predicted",
                "flops_per_second": min(peaks[kind], intensity * memory["bytes_per_second"])}

    return {"chart": "roofline", "title": f"Roofs of the {gpu['name']}",
            "roofs": roofs(gpu, {"fp32": "fp32", "tf32_tensor": "tf32 on tensor cores",
                                 "bf16_tensor": "bf16 on tensor cores"}),
            "memory": [dram, l2],
            "points": [point("scale, from DRAM", 1 / 8, "fp32", dram), point("scale, from L2", 1 / 8, "fp32", l2),
                       point("gemv, fp32", 1 / 2, "fp32", dram), point("gemm 512, fp32", 512 / 6, "fp32", dram),
                       point("gemm 512, tf32", 512 / 6, "tf32_tensor", dram)]}


def sizes_chart():
    """The time of one operation over its size: launch overhead at one end, DRAM at the other."""
    gpu = gpu_file("a100")
    sizes = runs()["sizes"]
    bandwidth = level(gpu, "DRAM")["bytes_per_second"]
    roof = [run["bytes_per_element"] * run["n"] / bandwidth * 1e3 for run in sizes]
    return {"chart": "latency", "title": f"Scaling n floats on the simulated {gpu['name']}",
            "x_label": "n", "x": [f"{run['n']}" for run in sizes],
            "latency_ms": [{"label": "scale, modelled", "values": [run["time_us"] * 1e-3 for run in sizes]},
                           {"label": "the DRAM roof", "values": roof}]}


def stream_table():
    bandwidth = gpu_file("a100")["memory"]["dram_gb_per_s"] * 1e9
    lines = ["| function | bytes an element | instructions an element | time (modelled) | bandwidth | of 1555 GB/s |",
             "|---|---|---|---|---|---|"]
    for run in runs()["stream"]:
        moved = run["bytes_per_element"] * run["n"] / (run["time_us"] * 1e-6)
        lines.append("| " + " | ".join([
            f"`{run['function']}`", f"{run['bytes_per_element']}", f"{run['instructions_per_element']:g}",
            f"{three_digits(run['time_us'])} µs", f"{three_digits(moved / 1e9)} GB/s",
            f"{100 * moved / bandwidth:.0f} %"]) + " |")
    return "\n".join(lines) + "\n"


def reached_table():
    lines = ["| kernel | FLOP/B | time (modelled) | reached | of its roof |", "|---|---|---|---|---|"]
    for run in runs()["peaks"]:
        seconds = run["time_us"] * 1e-6
        reached = rate(run["flops"] / seconds) if run["bound"] == "compute" else \
            f"{three_digits(run['bytes'] / seconds / 1e9)} GB/s"
        sampled = ", sampled" if run["sampled"] else ""
        lines.append(f"| `{run['name']}` | {run['flops'] / run['bytes']:.3g} | "
                     f"{three_digits(run['time_us'])} µs{sampled} | "
                     f"{reached} | {100 * run['roofline_us'] / run['time_us']:.0f} % |")
    return "\n".join(lines) + "\n"


PIPELINES = ["t4", "a100"]  # those of the page's table


def pipeline_table():
    """What an SM starts or moves in a cycle, and how many cycles a result takes."""
    all_gpus = [gpu_file(name) for name in PIPELINES]

    def tensor(gpu):
        """Multiply-adds of an SM in a cycle, which are a multiple of 16: the data sheet rounds the rate."""
        sm, mhz = gpu["sm"]["count"], gpu["clock"]["sm_mhz"]
        return 16 * round(gpu["peak_tflops"]["fp16_tensor"] * 1e6 / (2 * sm * mhz) / 16)

    rows = [
        ("**in a cycle of an SM**", lambda gpu: ""),
        ("warp instructions started, one by each scheduler", lambda gpu: gpu["sm"]["schedulers"]),
        ("fp32 multiply-adds", lambda gpu: gpu["sm"]["fp32_lanes"]),
        ("int32 additions", lambda gpu: gpu["sm"]["int32_lanes"]),
        ("fp64 multiply-adds", lambda gpu: gpu["sm"]["fp64_lanes"]),
        ("special functions", lambda gpu: gpu["sm"]["sfu_lanes"]),
        ("fp16 multiply-adds on tensor cores, dense", tensor),
        ("bytes from the L1 cache or shared memory", lambda gpu: gpu["sm"].get("shared_bytes_per_cycle", 128)),
        ("**cycles until the result is there**", lambda gpu: ""),
        ("multiply-add", lambda gpu: gpu["latency_cycles"]["alu"]),
        ("load from shared memory", lambda gpu: gpu["latency_cycles"]["shared"]),
        ("load from L1, L2, DRAM",
         lambda gpu: ", ".join(str(gpu["latency_cycles"][level]) for level in ("l1", "l2", "dram"))),
        ("**warps for each scheduler, at most**",
         lambda gpu: gpu["limits"]["warps_per_sm"] // gpu["sm"]["schedulers"]),
    ]
    lines = ["| | " + " | ".join(gpu["name"].split()[0] for gpu in all_gpus) + " |", "|---" * (len(all_gpus) + 1) + "|"]
    lines += [f"| {words} | " + " | ".join(str(value(gpu)) for gpu in all_gpus) + " |" for words, value in rows]
    return "\n".join(lines) + "\n"


WIDTH = 4096  # of the linear layer whose weights are quantised: inputs and outputs
WEIGHT_BYTES = {"bf16": 2, "int8": 1, "int4": (4 + 16 / 128) / 8}  # with an fp16 scale for 128 weights of 4 bits


def quantised_table():
    """A linear layer with weights of several sizes: the time of its FLOPs, and that of its bytes."""
    gpu = gpu_file("a100")
    peak, bandwidth = gpu["peak_tflops"]["bf16_tensor"] * 1e12, level(gpu, "DRAM")["bytes_per_second"]
    lines = ["| tokens | FLOPs | bytes, weights in " + " | bytes, ".join(WEIGHT_BYTES) + " |",
             "|---" * (2 + len(WEIGHT_BYTES)) + "|"]
    for tokens in (1, 16, 512):
        flops = 2 * tokens * WIDTH**2
        cells = [f"{tokens}", f"{three_digits(flops / 1e9)} G: {three_digits(flops / peak * 1e6)} µs"]
        for size in WEIGHT_BYTES.values():
            moved = size * WIDTH**2 + 2 * 2 * tokens * WIDTH  # activations stay bf16
            cells.append(f"{three_digits(moved / 1e6)} MB: {three_digits(moved / bandwidth * 1e6)} µs")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def blocks():
    return {"pipelines": pipeline_table(), "quantised": quantised_table(), "gpus": gpu_table(), "peaks": peak_table(), "t4": t4_table(), "stream": stream_table(),
            "reached": reached_table()}


def pictures(plot):
    return {"part2-levels.svg": plot(levels_chart()), "part2-t4.svg": plot(t4_chart()),
            "part2-sizes.svg": plot(sizes_chart()),
            "part2-t4-chart.json": json.dumps(t4_chart(), indent=2) + "\n"}
