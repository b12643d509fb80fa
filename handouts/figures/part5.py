"""The figures and tables of Part 5, from the GPUs' files and part5.json."""

import json
import pathlib
import tomllib

from shapes import LIMITERS, rectangle, svg, text, three_digits

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent

def data():
    return json.loads((HERE / "part5.json").read_text())


def gpu(name):
    return tomllib.loads((ROOT / "specs/gpus" / f"{name}.toml").read_text())


# ---- tables ----

def longest_sequence(memory_bytes, heads, head_dim, bytes_per_element, with_scores):
    """The longest sequence whose arrays, and scores or log-sum-exps, fit."""
    def needed(length):
        arrays = 4 * length * head_dim * bytes_per_element
        return heads * (arrays + (length * length * bytes_per_element if with_scores else 4 * length))

    fits, too_long = 0, 1 << 40
    while fits + 1 < too_long:
        middle = (fits + too_long) // 2
        fits, too_long = (middle, too_long) if needed(middle) <= memory_bytes else (fits, middle)
    return fits


def longest_table():
    lines = ["| GPU | memory | longest sequence in three steps | with flash attention |", "|---|---|---|---|"]
    for name in ("t4", "rtx4090", "rtx5090", "a100", "h100-sxm", "h200", "b200"):
        spec = gpu(name)
        memory = spec["memory"]["dram_gib"]
        lengths = [longest_sequence(memory * 2**30, 16, 64, 2, with_scores) for with_scores in (True, False)]
        lines.append(f"| {spec['name']} | {memory} GiB | {lengths[0]:,} | {lengths[1]:,} |")
    lines.append("")
    lines.append("(16 heads, head size 64, bf16, with nothing else in memory.)")
    return "\n".join(lines) + "\n"


def milliseconds(value):
    return f"{three_digits(1e3 * value)} µs" if value < 1 else f"{three_digits(value)} ms"


def amount(count):
    return f"{three_digits(count / 1e9)} GB" if count >= 1e9 else f"{three_digits(count / 1e6)} MB"


def study_table():
    lines = ["| tokens | three steps | flash | speed-up | memory, three steps | memory, flash | ratio | kernels |",
             "|---|---|---|---|---|---|---|---|"]
    for row in data()["study"]:
        lines.append(f"| {row['tokens']:.0f} | {milliseconds(row['standard_ms'])} | {milliseconds(row['flash_ms'])} | "
                     f"{row['standard_ms'] / row['flash_ms']:.1f} | {amount(row['standard_bytes'])} | "
                     f"{amount(row['flash_bytes'])} | {row['standard_bytes'] / row['flash_bytes']:.0f} | "
                     f"{row['standard_kernels']:.0f} and {row['flash_kernels']:.0f} |")
    return "\n".join(lines) + "\n"


def time_table():
    lines = ["| task | timed case | time (modelled) | least time | of the roofline | limited by |",
             "|---|---|---|---|---|---|"]
    for run in data()["timings"]:
        sampled = ", sampled" if run["sampled"] else ""
        lines.append(f"| `{run['task']}` | {run['name']} | {three_digits(run['time_us'])} µs{sampled} | "
                     f"{three_digits(run['roofline_us'])} µs | {100 * run['roofline_us'] / run['time_us']:.0f} % | "
                     f"{LIMITERS[run['limiter']]} |")
    return "\n".join(lines) + "\n"


# ---- pictures ----

TILES, ROWS = 6, 3  # tiles along each side, rows of a tile


def tile_map(body, left, top, title, visible):
    """The scores of 18 queries and keys in tiles: computed, partly masked and skipped ones."""
    cell = 11
    counts = {"whole": 0, "rim": 0, "skipped": 0}
    body.append(text(left, top, title, "strong"))
    for tile_row in range(TILES):
        for tile_column in range(TILES):
            rows = range(tile_row * ROWS, (tile_row + 1) * ROWS)
            columns = range(tile_column * ROWS, (tile_column + 1) * ROWS)
            seen = [(q, k) for q in rows for k in columns if visible(q, k)]
            kind = "whole" if len(seen) == ROWS * ROWS else "rim" if seen else "skipped"
            counts[kind] += 1
            for q in rows:
                for k in columns:
                    shade = ("good" if visible(q, k) else "poor") if kind != "skipped" else "idle"
                    body.append(rectangle(left + k * cell, top + 10 + q * cell, cell, cell, f"{shade} cell"))
            body.append(f'<rect class="tile" x="{left + columns[0] * cell}" y="{top + 10 + rows[0] * cell}" '
                        f'width="{ROWS * cell}" height="{ROWS * cell}"/>')
    below = top + 28 + TILES * ROWS * cell
    body.append(text(left, below, f"{counts['whole']} whole tiles, {counts['rim']} on the rim,", "soft"))
    body.append(text(left, below + 17, f"{counts['skipped']} skipped", "soft"))


def tiles_figure():
    width, height = 480, 318
    body = ["<style>.tile{fill:none;stroke:#1c2126;stroke-width:1.5}"
            "@media (prefers-color-scheme:dark){.tile{stroke:#e6e9ec}}</style>"]
    tile_map(body, 20, 30, "Causal", lambda q, k: k <= q)
    tile_map(body, 256, 30, "Causal, window of 8", lambda q, k: q - 8 < k <= q)
    body.append(text(20, height - 14, "Rows: queries. Columns: keys. Green: seen. Red: computed, then masked.", "soft"))
    return svg(width, height, "Which tiles of scores flash attention computes", body)


def block_figure():
    """What one block keeps, and what passes through its shared memory."""
    width, height = 480, 326
    left, top, tile, rows, depth = 112, 96, 42, 34, 46  # of the scores; a tile's sides; what d numbers take
    at_row, at_key, query_tiles, key_tiles = 1, 2, 3, 6
    body = []

    def tiles(x, y, across, down, step_x, step_y, is_now):
        for row in range(down):
            for column in range(across):
                shade = "good" if is_now(row, column) else "idle"
                body.append(rectangle(x + column * step_x, y + row * step_y, step_x, step_y, f"{shade} cell"))

    tiles(left, top - depth - 8, key_tiles, 1, tile, depth, lambda _, column: column == at_key)
    tiles(left - depth - 8, top, 1, query_tiles, depth, rows, lambda row, _: row == at_row)
    tiles(left, top, key_tiles, query_tiles, tile, rows, lambda row, column: (row, column) == (at_row, at_key))
    below, right = top + query_tiles * rows + 8, left + key_tiles * tile + 8
    tiles(left, below, key_tiles, 1, tile, depth, lambda _, column: column == at_key)
    tiles(right, top, 1, query_tiles, depth, rows, lambda row, _: row == at_row)
    middle = left + key_tiles * tile / 2
    body.append(text(middle, top - depth - 16, "K, tile after tile", "strong", "middle"))
    body.append(text(left - depth - 8, top - 8, "Q", "strong"))
    body.append(text(right, top - 8, "acc, m, l", "strong"))
    body.append(text(middle, below + depth + 18, "V, tile after tile", "strong", "middle"))
    body.append(text(20, height - 38, "Green: what one block has on chip. Its Q, acc, m and l stay,", "soft"))
    body.append(text(20, height - 20, "K and V pass by, and no scores go to memory.", "soft"))
    return svg(width, height, "One block of flash attention", body)


def blocks():
    return {"longest": longest_table(), "study": study_table(), "times": time_table()}


def pictures(plot):
    return {"part5-tiles.svg": tiles_figure(), "part5-block.svg": block_figure(),
            "part5-study.svg": plot(data()["attention"]),
            "part5-roofline.svg": plot(data()["roofline"])}
