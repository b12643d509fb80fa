"""A roofline chart of the kernels of a report: what ran, under the roofs of the GPU."""

import math

from rooflab.words import escaped, one_line

WIDTH, HEIGHT = 640, 340
LEFT, RIGHT, TOP, BOTTOM = 76, 20, 16, 48
COLOURS = ("#1565c0", "#c62828", "#2e7d32", "#6a1b9a", "#b26a00", "#00695c")
MOST_POINTS = len(COLOURS)


def flops_of(kernel):
    """The fp32 operations that its threads did, a multiply-add being two."""
    count = {name: kernel["counters"].get(f"smsp__sass_thread_inst_executed_op_{name}_pred_on.sum", 0)
             for name in ("fadd", "fmul", "ffma")}
    return count["fadd"] + count["fmul"] + 2 * count["ffma"]


def points_of(report):
    """Of each kernel its slowest launch: name, FLOP/B and FLOP/s. One without fp32 operations or DRAM bytes has no point."""
    slowest = {}
    for kernel in report["kernels"]:
        if not kernel["failed"] and kernel["time_us"] > slowest.get(kernel["name"], {"time_us": 0})["time_us"]:
            slowest[kernel["name"]] = kernel
    points = []
    for name, kernel in slowest.items():
        flops = flops_of(kernel)
        moved = kernel["counters"]["dram__bytes_read.sum"] + kernel["counters"]["dram__bytes_write.sum"]
        if flops > 0 and moved > 0:
            points.append((one_line(name), flops / moved, flops / (kernel["time_us"] * 1e-6)))
    return points[:MOST_POINTS]


def sentence(point, peak, bandwidth):
    """"turn: 0.125 FLOP/B, 20.3 GFLOP/s, 12 % of the roof, which is memory's"."""
    name, intensity, rate = point
    roof = min(peak, intensity * bandwidth)
    whose = "memory's" if intensity * bandwidth < peak else "arithmetic's"
    return f"{name}: {intensity:.3g} FLOP/B, {rate / 1e9:.3g} GFLOP/s, {100 * rate / roof:.0f} % of the roof, which is {whose}"


class _Scale:
    """From a power of ten to another one, on so many pixels."""

    def __init__(self, low, high, begin, end):
        self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
        self._begin, self._end = begin, end

    def at(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return round(self._begin + share * (self._end - self._begin), 1)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def _axes(x, y):
    parts = []
    for tick in x.ticks():
        parts.append(f'<line x1="{x.at(tick)}" y1="{TOP}" x2="{x.at(tick)}" y2="{HEIGHT - BOTTOM}" stroke="#8884"/>'
                     f'<text x="{x.at(tick)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:g}</text>')
    for tick in y.ticks():
        parts.append(f'<line x1="{LEFT}" y1="{y.at(tick)}" x2="{WIDTH - RIGHT}" y2="{y.at(tick)}" stroke="#8884"/>'
                     f'<text x="{LEFT - 6}" y="{y.at(tick) + 4}" text-anchor="end">{tick / 1e9:g}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">FLOP for each byte across DRAM</text>'
                 f'<text transform="translate(16,{(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">GFLOP/s</text>')
    return parts


def _apart(heights, least=14):
    """The heights of labels, moved down where one would lie on another."""
    moved, last = dict(), -math.inf
    for place in sorted(range(len(heights)), key=lambda place: heights[place]):
        last = moved[place] = max(heights[place], last + least)
    return [round(moved[place], 1) for place in range(len(heights))]


def chart(points, gpu, peak, bandwidth):
    """The chart as SVG, and its text. `peak` in FLOP/s, `bandwidth` in B/s."""
    ridge = peak / bandwidth
    lowest_x = min([ridge / 10, *(intensity / 1.5 for _, intensity, _ in points)])
    highest_x = max([ridge * 10, *(intensity * 1.5 for _, intensity, _ in points)])
    x = _Scale(lowest_x, highest_x, LEFT, WIDTH - RIGHT)
    first = 10.0 ** x.low
    lowest_y = min([first * bandwidth, *(rate / 1.5 for _, _, rate in points)])
    y = _Scale(lowest_y, peak * 1.2, HEIGHT - BOTTOM, TOP)
    parts = _axes(x, y)
    # The slope may begin below the chart.
    start = max(first, 10.0 ** y.low / bandwidth)
    parts.append(f'<polyline points="{x.at(start)},{y.at(start * bandwidth)} {x.at(ridge)},{y.at(peak)} '
                 f'{WIDTH - RIGHT},{y.at(peak)}" fill="none" stroke="currentColor" stroke-width="2"/>')
    label_heights = _apart([y.at(rate) + 4 for _, _, rate in points])
    for (name, intensity, rate), colour, height in zip(points, COLOURS, label_heights):
        left = x.at(intensity) > WIDTH * 0.6
        parts.append(f'<circle cx="{x.at(intensity)}" cy="{y.at(rate)}" r="5" fill="{colour}"/>'
                     f'<text x="{x.at(intensity) + (-9 if left else 9)}" y="{height}" fill="{colour}" '
                     f'text-anchor="{"end" if left else "start"}">{escaped(name[:40])}</text>')
    words = "\n".join([f"roofline of a simulated {gpu}: fp32 operations that ran, bytes that crossed DRAM, modelled times",
                       *(sentence(point, peak, bandwidth) for point in points)])
    svg = (f'<svg role="img" aria-label="{escaped(words)}" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'style="max-width:{WIDTH}px;width:100%;font:12px sans-serif" fill="currentColor">{"".join(parts)}</svg>')
    return svg, words
