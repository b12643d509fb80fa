"""One archive of a build tree, for a machine with a GPU and NVIDIA's toolkit that shall build nothing."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.dont_write_bytecode = True
import thirty_minutes  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_BYTES = 64 << 20
PROGRAMS = ("bin/grader", "bin/rooflab-teach", "bin/rooflab-guest", "bin/rooflab-sandboxed", "bin/simgpu", "bin/simgpu-device",
            "cuda/fidelity", "tests/device_on_gpu_test", "tests/libgpu_tasks.so", "tests/performance_table", "tests/toolkit_gpu_test")
LIBRARIES = "lib"  # all of it but:
OBJECTS_OF_PROGRAMS = ("lib/labs/part5_solutions", "lib/labs/performance")  # linked into the programs above
BUBBLEWRAP = "/usr/bin/bwrap"
BESIDE = "beside"  # other people's libraries, in the build folder
# What every machine has with its compiler, and what NVIDIA's toolkit brings.
EVERYWHERE = re.compile(r"^(linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|resolv|util|stdc\+\+|gcc_s)\.so|lib(cu|nv|nccl))")


def dependencies(listing):
    """{name: file} of what `ldd` printed, without what is everywhere; those that it did not find are None."""
    found = {}
    for line in listing.splitlines():
        match = re.match(r"\s*(\S+) => (not found|/\S+)", line)
        if match and not EVERYWHERE.match(match[1]):
            found[match[1]] = None if match[2] == "not found" else pathlib.Path(match[2])
    return found


def libraries_of(files, build):
    """Other people's libraries that these files need, by name. Ours are in the build tree, and packed from there."""
    needed = {}
    for file in files:
        done = subprocess.run(["ldd", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        for name, library in dependencies(done.stdout).items():
            if library is None:
                raise SystemExit(f"{file} needs {name}, which is not there")
            if build not in library.resolve().parents:
                needed[name] = library.resolve()
    return needed


def portable_table(build, tests, cuda):
    """The tests' commands with placeholders in place of this machine's folders (thirty_minutes.registered reads them)."""
    def word_for(word):
        for path, place in ((str(build), "@BUILD@"), (str(ROOT), "@ROOT@"), (cuda, "@CUDA@")):
            word = re.sub(rf"(^|=){re.escape(path)}(?=/|$)", rf"\1{place}", word)
        return "@PYTHON@" if re.search(r"/python[0-9.]*$", word) else word
    return {name: {"command": [word_for(word) for word in words],
                   "environment": {key: word_for(value) for key, value in environment.items()}}
            for name, (words, environment) in tests.items()}


def toolkit_in(tests):
    """The folder that the tests name as the toolkit's."""
    for words, _ in tests.values():
        if "--cuda" in words:
            return words[words.index("--cuda") + 1]
    return "/usr/local/cuda"


def is_elf(file):
    with open(file, "rb") as stream:
        return stream.read(4) == b"\x7fELF"


def copy(source, target):
    """A file or a link; programs and shared libraries without what only debuggers read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target, follow_symlinks=False)
    if not target.is_symlink() and target.suffix not in (".o", ".a") and is_elf(target):
        target.chmod(target.stat().st_mode | 0o200)
        subprocess.run(["strip", "--strip-unneeded", target], check=True)


def copy_build(build, target):
    missing = [name for name in PROGRAMS if not (build / name).exists()]
    cache = (build / "CMakeCache.txt").read_text()
    if not re.search(r"^ROOFLAB_TESTS_FOR_GPUS:BOOL=(ON|1|TRUE|YES)$", cache, re.MULTILINE):
        missing.append("machine code of the tests")
    if missing:
        raise SystemExit(f"not built: {', '.join(missing)}; run scripts/gpu_tests --build-only first")
    for name in PROGRAMS:
        copy(build / name, target / name)
    for file in sorted((build / LIBRARIES).rglob("*")):
        name = file.relative_to(build)
        if (file.is_symlink() or file.is_file()) and not str(name).startswith(OBJECTS_OF_PROGRAMS):
            copy(file, target / name)
    elves = [file for file in target.rglob("*") if file.is_file() and file.suffix not in (".o", ".a") and is_elf(file)]
    others = [file for file in elves if "simgpu" not in file.parent.name]
    needed = libraries_of(others, target)
    if os.access(BUBBLEWRAP, os.X_OK):
        copy(pathlib.Path(BUBBLEWRAP), target / BESIDE / "bwrap")
        needed.update(libraries_of([BUBBLEWRAP], target))
    for name, library in needed.items():
        copy(library, target / BESIDE / name)
    return sorted(needed)


def tracked_files():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).exists()]


def pack(archive, build, say, preset=6):
    tests = thirty_minutes.listed_by_ctest(build)
    if not tests:
        raise SystemExit(f"{build} has no tests for a GPU; configure it first")
    with tempfile.TemporaryDirectory(prefix="rooflab-pack-") as scratch:
        root = pathlib.Path(scratch) / "rooflab"
        for name in tracked_files():
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
        libraries = copy_build(build, root / "build")
        table = portable_table(build, tests, toolkit_in(tests))
        (root / "build" / thirty_minutes.TABLE).write_text(json.dumps(table, indent=1) + "\n")
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], stdout=subprocess.PIPE, check=True)
        (root / "packed_commit").write_bytes(commit.stdout)
        copy(pathlib.Path(__file__).parent / "run_on_gpu", root / "run_on_gpu")
        part = archive.with_name(archive.name + ".part")
        with tarfile.open(part, "w:xz", preset=preset) as out:
            out.add(root, "rooflab", filter=owned_by_nobody)
    size = part.stat().st_size
    if size > MOST_BYTES:
        part.unlink()
        raise SystemExit(f"the archive would have {size >> 20} MiB, more than {MOST_BYTES >> 20}")
    part.rename(archive)
    say(f"{archive}: {size / (1 << 20):.1f} MiB with {len(libraries)} libraries of others; there: tar xf {archive.name} && "
        "rooflab/run_on_gpu")


def owned_by_nobody(member):
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member
