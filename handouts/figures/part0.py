"""The picture of a GPU on the page of Part 0, from the file of the A100."""

import pathlib
import tomllib

from shapes import line, rectangle, svg, text

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BYTES_PER_REGISTER = 4
KIB = 1024

LEFT, RIGHT, COUNTERS = 16, 440, 464  # edges of the boxes, and where the names of counters begin
WIDTH = 720


def counted(body, y, lines, begin=RIGHT):
    """What is counted at a height of the picture: names of counters, and what they say."""
    body.append(line(begin, y - 4, COUNTERS - 6, y - 4, "roof"))
    for index, (words, kind) in enumerate(lines):
        body.append(text(COUNTERS, y + 17 * index, words, kind))


def box(body, top, height, words, more):
    body += [rectangle(LEFT, top, RIGHT - LEFT, height, "idle"),
             text(LEFT + 12, top + 19, words, "strong"), text(LEFT + 12, top + 37, more, "")]


def chip(body, gpu, top):
    """All SMs, of which the first is looked at below."""
    count, columns, cell = gpu["sm"]["count"], 18, 17
    body.append(text(LEFT, top, f"The chip: {count} streaming multiprocessors (SMs)", "strong"))
    for sm in range(count):
        x, y = LEFT + sm % columns * cell, top + 10 + sm // columns * cell
        body.append(rectangle(x, y, cell - 3, cell - 3, "good" if sm == 0 else "idle"))
    counted(body, top + 26, [("launch__grid_size", "strong"), ("blocks, spread over the SMs", "soft"),
                             ("gpu__time_duration.sum", "strong"), ("from the first to the last block", "soft")], LEFT + columns * cell)
    return top + 10 + (count + columns - 1) // columns * cell


def multiprocessor(body, gpu, top):
    sm, limits = gpu["sm"], gpu["limits"]
    parts = sm["schedulers"]
    height = 236
    body += [rectangle(LEFT, top, RIGHT - LEFT, height, "roof"),
             text(LEFT + 12, top + 19, f"One SM: up to {limits['threads_per_sm']} threads = {limits['warps_per_sm']} warps",
                  "strong")]
    registers = limits["registers_per_sm"] // parts
    rows = [("scheduler", "strong"), (f"{limits['warps_per_sm'] // parts} warps", ""), (f"{sm['fp32_lanes'] // parts} x fp32", ""),
            (f"{sm['int32_lanes'] // parts} x int32", ""), (f"{sm['fp64_lanes'] // parts} x fp64", ""),
            (f"{sm['sfu_lanes'] // parts} x special", ""), ("tensor core", ""),
            (f"{registers * BYTES_PER_REGISTER // KIB} KiB regs", "")]
    gap = 8
    width = (RIGHT - LEFT - gap) / parts - gap
    for part in range(parts):
        x = LEFT + gap + part * (width + gap)
        body.append(rectangle(x, top + 30, width, 144, "idle"))
        body += [text(x + 7, top + 47 + 17 * row, words, kind) for row, (words, kind) in enumerate(rows)]
    x, y = LEFT + gap, top + 182
    body += [rectangle(x, y, RIGHT - LEFT - 2 * gap, 46, "idle"),
             text(x + 7, y + 18, f"L1 cache and shared memory: {gpu['memory']['l1_kib_per_sm']} KiB together", "strong"),
             text(x + 7, y + 36, f"at most {limits['shared_kib_per_sm']} KiB of them shared", "")]
    counted(body, top + 47, [("smsp__inst_executed.sum", "strong"), ("instructions of warps", "soft"),
                             ("smsp__sass_thread_inst_…", "strong"), ("arithmetic of threads", "soft"),
                             ("launch__registers_per_thread", "strong")])
    counted(body, y + 4, [("l1tex__t_requests_…", "strong"), ("l1tex__t_sectors_…", "strong"),
                          ("l1tex__data_bank_conflicts_…", "strong"), ("loads and stores of warps", "soft")])
    return top + height


def gpu_figure(gpu):
    memory = gpu["memory"]
    body = []
    bottom = chip(body, gpu, 28)
    body.append(line(LEFT + 7, 28 + 10 + 14, LEFT + 7, bottom + 14, "roof"))
    bottom = multiprocessor(body, gpu, bottom + 14)
    top = bottom + 22
    box(body, top, 46, f"L2 cache: {memory['l2_mib']} MiB for all SMs", f"{memory['l2_gb_per_s'] / 1000:.1f} TB/s")
    counted(body, top + 22, [("lts__t_sectors_…", "strong"), ("sectors that L1 did not have", "soft")])
    top += 62
    box(body, top, 46, f"DRAM: {memory['dram_gib']} GiB, where cudaMalloc takes memory", f"{memory['dram_gb_per_s']} GB/s")
    counted(body, top + 22, [("dram__bytes_read.sum", "strong"), ("bytes that L2 did not have", "soft")])
    top += 62
    box(body, top, 46, "The host: the processor and its memory", f"PCIe, {memory['pcie_gb_per_s']} GB/s each way")
    counted(body, top + 22, [("cudaMemcpy", "strong"), ("no counter: look at the trace", "soft")])
    for middle in (bottom + 11, bottom + 22 + 54, bottom + 22 + 116):
        body.append(line(228, middle - 8, 228, middle + 8, "roof"))
    return svg(WIDTH, int(top + 62), f"An {gpu['name']} and where the grader's counters are counted", body)


def blocks():
    return {}


def pictures(_plot):
    gpu = tomllib.loads((ROOT / "specs/gpus/a100.toml").read_text())
    return {"part0-gpu.svg": gpu_figure(gpu)}
