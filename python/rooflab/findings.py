"""Findings and kernels of a report of simgpu, in words."""

import collections

from rooflab.cuda_cell import FILE
from rooflab.words import band, one_line

MOST_FINDINGS = 10
MOST_KERNELS = 8


def _triple(numbers, least=0):
    """"(63,0)": without the third number where it is the least that it can be."""
    shown = numbers[:2] if len(numbers) == 3 and numbers[2] == least else numbers
    return "({})".format(",".join(map(str, shown)))


def _place(file, line):
    if file == FILE:
        return f"line {line} of this cell"
    return f"{one_line(file)}:{line}" if file else "an unknown line"


def _excerpt(file, line, cell_lines):
    """The source of a line of the cell, whose first line is the magic."""
    if file != FILE or not 2 <= line < len(cell_lines) + 2:
        return []
    return [f"    {line} | {one_line(cell_lines[line - 2])}"]


def _side(site, cell_lines):
    who = f"thread {_triple(site['thread'])}, warp {site['warp']} of block {_triple(site['block'])} " \
        if site.get("thread") and site.get("file") else ""
    return [f"  {_place(site['file'], site['line'])}: {who}{one_line(site['action'])}",
            *_excerpt(site["file"], site["line"], cell_lines)]


def story(finding, cell_lines):
    """One finding as lines of text: what, where, who else, and how to learn more."""
    lines = [f"{'warning' if finding['kind'] == 'leak' else 'error'}[{finding['code']}]: {one_line(finding['message'])}"]
    if finding["file"] or finding["line"]:
        lines += _side(finding, cell_lines)
    if finding["kernel"]:
        lines.append(f"  in kernel {one_line(finding['kernel'])}")
    other = finding.get("other")
    if other and other["file"]:
        lines += _side(other, cell_lines)
    for note in finding.get("also") or []:
        lines += [f"  {_place(note['file'], note['line'])}: {one_line(note['text'])}",
                  *_excerpt(note["file"], note["line"], cell_lines)]
    if finding["occurrences"] > 1:
        lines.append(f"  this happened {finding['occurrences']} times")
    lines.append(f"  what it means: %rooflab explain {finding['code']}")
    return "\n".join(lines)


def stories(report, cell):
    """The first findings, and how many more there are: pairs of kind and text."""
    lines = cell.split("\n")
    told = [("warning" if one["kind"] == "leak" else "error", story(one, lines)) for one in report["findings"][:MOST_FINDINGS]]
    more = len(report["findings"]) - len(told)
    return told + ([("note", f"and {more} more findings")] if more > 0 else [])


KERNEL_HEAD = ("kernel", "launches", "grid", "block", "modelled time, band", "limited by")


def kernel_rows(report):
    """Each kernel once, with its slowest launch; the slowest first."""
    launches = collections.defaultdict(list)
    for kernel in report["kernels"]:
        launches[kernel["name"]].append(kernel)
    slowest = sorted((max(all_of, key=lambda one: one["time_us"]) for all_of in launches.values()),
                     key=lambda one: -one["time_us"])
    return [(one_line(one["name"]), len(launches[one["name"]]), _triple(one["grid"], 1), _triple(one["block"], 1),
             "failed" if one["failed"] else band(one["time_us"], *one["time_band_us"]),
             "" if one["failed"] else one["explanation"]["limiter"] or "unknown") for one in slowest[:MOST_KERNELS]]
