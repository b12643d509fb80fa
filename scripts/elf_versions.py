"""Which versions of glibc and libstdc++ a compiled file needs."""

import re
import subprocess

# The newest that programs may need: those of Ubuntu 22.04 with the libstdc++ of GCC 12.
NEWEST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)}
UNDEFINED = re.compile(r"\*UND\*.*?\(?(GLIBC|GLIBCXX|CXXABI)_([0-9.]+)\)?\s+(\S+)$")


def is_elf(file):
    with file.open("rb") as stream:
        return stream.read(4) == b"\x7fELF"


def loaded_files(folder):
    """The programs and shared libraries in a folder, and not what is linked into others."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [path for path in files if path.suffix not in (".o", ".a") and is_elf(path)]


def too_new(file):
    """What of a file needs something newer, one line each: `arc4random needs GLIBC_2.36`."""
    listed = subprocess.run(["objdump", "--dynamic-syms", file], text=True, capture_output=True)
    for line in listed.stdout.splitlines():
        found = UNDEFINED.search(line)
        if found and tuple(map(int, found[2].split("."))) > NEWEST[found[1]]:
            newest = ".".join(map(str, NEWEST[found[1]]))
            yield f"{found[3]} needs {found[1]}_{found[2]}, which is newer than {newest}"
