#!/usr/bin/env python3
"""Puts together what the site is made of: assemble.py FOLDER.

FOLDER then holds the handouts and the pages of the codes, as they are in handouts/, and what is made from the project's
data: an index of the codes by topic and by section, a table of the GPUs, a page for each header that students include.
Nothing here is a list kept by hand: a new handout, code, GPU or header is on the site because it is there.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HANDOUTS = ROOT / "handouts"
PARTS = tomllib.loads((ROOT / "labs/course.toml").read_text()).get("parts")  # None: all that there are


def is_of_course(name):
    """Whether a file or folder part<number>-… belongs to a part of the course, or to none."""
    number = re.match(r"part(\d+)-", name)
    return PARTS is None or not number or int(number[1]) in PARTS


HEADERS = {"toolkit": "labs/toolkit", **{path.parent.name: path.relative_to(ROOT).as_posix()
                                         for path in sorted(ROOT.glob("labs/part*/interface")) if is_of_course(path.parent.name)}}

CODE_ROW = re.compile(r"^\| (RL\d{4}) \| (.+?) \|$", re.MULTILINE)
RANGE_ROW = re.compile(r"^\| RL(\d\d)xx \| (.+?) \| .+? \|$", re.MULTILINE)
TAUGHT = re.compile(r"^## Where it is taught\n\n\[([^\]]+)\]\(([^)]+)\)", re.MULTILINE)
INTERFACE = re.compile(r"\]\((?:\.\./)+labs/(part[^/]+)/interface/(\w+)\.h\)")
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
TOOLKIT_INCLUDE = re.compile(r'#include "toolkit/([\w/]+)\.h"')
TOOLKIT = re.compile(r"\]\((?:\.\./)+labs/toolkit/([\w/]+)\.h\)")


def toctree(pages, caption=None, hidden=True):
    options = [":titlesonly:"] + ([f":caption: {caption}"] if caption else [])
    options += [":hidden:"] if hidden else []
    return "\n".join(["```{toctree}", *options, "", *pages, "```", ""])


def with_links_inside(text, up):
    """The page with links into the labs' headers leading to their pages; `up` leads from the page to the site's top."""
    text = INTERFACE.sub(rf"]({up}api/\1/\2.md)", text)
    return TOOLKIT.sub(rf"]({up}api/toolkit/\1.md)", text).replace("](README.md", "](index.md")


def pages_of_course(folder):
    """The handouts without what leads to parts that the course does not have, which the grader knows to leave out."""
    grader = ROOT / "build/bin/grader"
    if not grader.exists():
        raise SystemExit("`parts` of labs/course.toml leaves parts out, which build/bin/grader does; build it first: "
                         "cmake --build build --target grader")
    subprocess.run([grader, "pages", folder], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"ROOFLAB_ROOT": str(ROOT)})


def copy_figures(folder):
    not_shown = shutil.ignore_patterns("*.py", "*.cu", "*.json", "draw", "measure", "__pycache__")
    shutil.copytree(HANDOUTS / "figures", folder / "figures",
                    ignore=lambda where, names: {*not_shown(where, names), *(name for name in names if not is_of_course(name))})


def copy_handouts(pages, folder):
    (folder / "errors").mkdir()
    for page in sorted(pages.glob("part*.md")):
        (folder / page.name).write_text(with_links_inside(page.read_text(), ""))
    for page in sorted(pages.glob("errors/*.md")):
        # So many pages in every page's table of contents would help nobody: the indexes lead to them.
        (folder / "errors" / page.name).write_text("---\norphan: true\n---\n" + with_links_inside(page.read_text(), "../"))


def write_start(pages, folder):
    handouts = [page.stem for page in sorted(pages.glob("part*.md"))]
    text = with_links_inside((pages / "README.md").read_text(), "")
    (folder / "index.md").write_text("\n".join([
        text, toctree(handouts, "Handouts"), toctree(["codes", "sections", "gpus"], "Look up"),
        toctree([f"{part} <api/{part}/index>" for part in HEADERS], "Headers")]))


def code_list(codes):
    return "".join(f"- [{code}](errors/{code}.md): {meaning}\n" for code, meaning in codes)


def write_codes(folder):
    """The codes by what they are about, as docs/design/codes.md has them."""
    table = (ROOT / "docs/design/codes.md").read_text()
    codes = CODE_ROW.findall(table)
    text = ["# Codes by topic\n", "What the grader and the simulated GPU say has a code. `build/bin/grader explain` "
            "with the code prints its page. [Codes by section](sections.md) lists them by where they are taught.\n"]
    for number, about in RANGE_ROW.findall(LINK.sub(r"\1", table)):  # they lead to pages for authors
        title, _, rest = about.partition(": ")
        listed = code_list((code, meaning) for code, meaning in codes if code.startswith(f"RL{number}"))
        if listed:
            text += [f"## {title[0].upper()}{title[1:]}\n", f"RL{number}xx: {rest or title}.\n", listed]
    (folder / "codes.md").write_text("\n".join(text))


def write_sections(folder):
    """The codes by the section that teaches what they are about."""
    meanings = dict(CODE_ROW.findall((ROOT / "docs/design/codes.md").read_text()))
    taught = collections.defaultdict(list)
    for page in sorted((folder / "errors").glob("*.md")):
        found = TAUGHT.search(page.read_text())
        if found:
            taught[(found[2].removeprefix("../"), found[1])].append((page.stem, meanings[page.stem]))
    text = ["# Codes by section\n", "What can go wrong, beside the section of a handout or the header that says how it is "
            "done right.\n"]
    for (target, name), codes in sorted(taught.items(), key=lambda item: item[0][1]):
        text += [f"## [{name}]({target})\n", code_list(codes)]
    (folder / "sections.md").write_text("\n".join(text))


def write_gpus(folder):
    specs = {path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "specs/gpus").glob("*.toml"))}
    specs = dict(sorted(specs.items(), key=lambda item: item[1]["memory"]["dram_gb_per_s"]))

    def row(name, of):
        values = [of(spec) for spec in specs.values()]
        return [name, *("–" if value is None else f"{value:g}" if isinstance(value, float) else str(value) for value in values)]

    def ridge(spec, kind):
        peak = spec["peak_tflops"].get(kind)
        return peak and round(peak * 1000 / spec["memory"]["dram_gb_per_s"], 1)

    rows = [
        row("compute capability", lambda spec: "{}.{}".format(*spec["compute_capability"])),
        row("SMs", lambda spec: spec["sm"]["count"]),
        row("fp32 lanes of an SM", lambda spec: spec["sm"]["fp32_lanes"]),
        row("clock, MHz", lambda spec: spec["clock"]["sm_mhz"]),
        row("fp32, TFLOP/s", lambda spec: spec["peak_tflops"]["fp32"]),
        row("tf32 on tensor cores, TFLOP/s", lambda spec: spec["peak_tflops"].get("tf32_tensor")),
        row("fp16 on tensor cores, TFLOP/s", lambda spec: spec["peak_tflops"].get("fp16_tensor")),
        row("bf16 on tensor cores, TFLOP/s", lambda spec: spec["peak_tflops"].get("bf16_tensor")),
        row("DRAM, GB/s", lambda spec: spec["memory"]["dram_gb_per_s"]),
        row("DRAM, GiB", lambda spec: spec["memory"]["dram_gib"]),
        row("L2, MiB", lambda spec: spec["memory"]["l2_mib"]),
        row("ridge in fp32, FLOP/B", lambda spec: ridge(spec, "fp32")),
        row("ridge in fp16 on tensor cores, FLOP/B", lambda spec: ridge(spec, "fp16_tensor")),
        row("shared memory of a block, KiB", lambda spec: spec["limits"]["shared_kib_per_block_optin"]),
        row("warps on an SM", lambda spec: spec["limits"]["warps_per_sm"]),
    ]
    table = [["", *(spec["name"] for spec in specs.values())], ["---"] * (len(specs) + 1), *rows]
    text = ["# GPUs\n", "The GPUs that can be simulated: `--device sim:` and a name, as in `sim:a100`. Rates are dense, without sparsity.\n",
            "".join("| " + " | ".join(line) + " |\n" for line in table)]
    for name, spec in specs.items():
        text += [f"## {spec['name']}\n", f"`sim:{name}`. Sources:\n",
                 "".join(f"- {source}\n" for source in spec["sources"])]
    (folder / "gpus.md").write_text("\n".join(text))


def included_by_students():
    """The toolkit's headers that a starter file, an interface or a handout includes; the others are the toolkit's own."""
    readers = [*ROOT.glob("starter/*/**/*.c*"), *ROOT.glob("labs/part*/interface/*.h"), *HANDOUTS.glob("**/*.md")]
    readers = [reader for reader in readers if all(map(is_of_course, reader.parts))]
    return {name for reader in readers for name in TOOLKIT_INCLUDE.findall(reader.read_text())}


def headers_of(part, source):
    """{name without .h: path}."""
    headers = {path.relative_to(ROOT / source).with_suffix("").as_posix(): path for path in (ROOT / source).rglob("*.h")}
    chosen = included_by_students() if part == "toolkit" else headers
    return {name: headers[name] for name in sorted(chosen)}


def write_headers(folder):
    """A page for each header: what Doxygen knows of it, and its text, which says more. headers.txt is for Doxygen."""
    for part, source in HEADERS.items():
        headers = headers_of(part, source)
        for name, header in headers.items():
            page = folder / "api" / part / f"{name}.md"
            page.parent.mkdir(parents=True, exist_ok=True)
            include = f"toolkit/{name}.h" if part == "toolkit" else f"interface/{name}.h"
            page.write_text(f"# {include}\n\n```{{doxygenfile}} {header.name}\n:project: {part}\n```\n\n## Text of the header\n\n"
                            f"`{header.relative_to(ROOT)}`:\n\n```cuda\n{header.read_text()}```\n")
        title, about = (("Toolkit", "What programs of all parts may include.") if part == "toolkit" else
                        (f"Interface of {part}",
                         f"What the functions of `starter/{part}/` get, and what must hold when they return."))
        (folder / "api" / part / "index.md").write_text(
            f"# {title}\n\n{about}\n\n" + "".join(f"- [`{name}.h`]({name}.md)\n" for name in headers) + "\n" + toctree(headers))
        (folder / "api" / part / "headers.txt").write_text("".join(f"{path}\n" for path in headers.values()))


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_figures(folder)
    with tempfile.TemporaryDirectory() as filtered:
        pages = HANDOUTS
        if PARTS is not None:
            pages = pathlib.Path(filtered)
            pages_of_course(pages)
        copy_handouts(pages, folder)
        write_start(pages, folder)
    write_codes(folder)
    write_sections(folder)
    write_gpus(folder)
    write_headers(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
