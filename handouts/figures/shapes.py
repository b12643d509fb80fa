"""Shapes, words and numbers that the figures share. The pictures fit light and dark pages."""

import math

STYLE = """
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1c2126}
.paper{fill:#fff}.soft{fill:#5c6670}.strong{font-weight:600}
.grid{stroke:#dfe3e8}.roof{stroke:#1c2126;stroke-width:2;fill:none}.ridge{fill:#1c2126}
.good{fill:#18794e}.poor{fill:#c0362c}.idle{fill:#dfe3e8}.cell{stroke:#fff;stroke-width:1}
@media (prefers-color-scheme:dark){
text{fill:#e6e9ec}.paper{fill:#14171a}.soft{fill:#9aa5b0}.grid{stroke:#2c333a}
.roof{stroke:#e6e9ec}.ridge{fill:#e6e9ec}.good{fill:#5bc08e}.poor{fill:#ff8177}.idle{fill:#2c333a}.cell{stroke:#14171a}}
"""

LIMITERS = {"dram": "DRAM", "shared": "shared memory", "fp32": "fp32 arithmetic", "issue": "instruction issue",
            "l2": "the L2 cache", "latency": "latency", "l1": "the L1 cache", "special": "special functions",
            "tensor": "tensor cores", "launch": "its launch"}


def svg(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">\n'
            f"<title>{title}</title>\n<style>{STYLE}</style>\n"
            f'<rect class="paper" width="{width}" height="{height}" rx="6"/>\n' + "\n".join(body) + "\n</svg>\n")


def text(x, y, words, kind="", anchor="start", turn=0.0):
    turned = f' transform="rotate({turn:.1f} {x:.1f} {y:.1f})"' if turn else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>{words}</text>'


def line(x1, y1, x2, y2, kind):
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def rectangle(x, y, width, height, kind):
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'


def circle(x, y, radius, kind):
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def three_digits(value):
    return f"{value:.{max(0, 2 - math.floor(math.log10(value)))}f}"


def rate(flops_per_second):
    scale, unit = (1e12, "TFLOP/s") if flops_per_second >= 1e12 else (1e9, "GFLOP/s")
    return f"{three_digits(flops_per_second / scale)} {unit}"
