"""The student's own folder of an installed wheel: the kit that the wheel holds, unpacked once, and brought up to date."""

import hashlib
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zlib

from rooflab.errors import RooflabError
from rooflab.places import Course, find_nvcc

KIT = pathlib.Path(__file__).parent / "kit.tar.gz"  # in a wheel alone
NAME = "rooflab"  # of the folder, here and in the archive
MARK = ".kit/wheel"  # which kit was unpacked


def is_course(folder):
    return (folder / "labs/course.toml").is_file()


def find_own(here):
    """The course of ROOFLAB_ROOT, of a folder above, or of rooflab/ in one; None where there is none yet."""
    named = os.environ.get("ROOFLAB_ROOT")
    candidates = [pathlib.Path(named).absolute()] if named else \
        [candidate for folder in (here, *here.parents) for candidate in (folder, folder / NAME)]
    return next((folder for folder in candidates if is_course(folder)), None)


def _kit_sum(kit):
    return hashlib.sha256(kit.read_bytes()).hexdigest()


def _unpack(kit, folder):
    """The kit's files into a folder; what is there and is not the kit's stays."""
    try:
        with tarfile.open(kit) as archive:
            # Not every Python 3.10 and 3.11 has it; the archive came with this package, and is trusted as it is.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise RooflabError(f"{kit} is damaged: install the wheel again") from error


def make(kit, here):
    """rooflab/ in this folder, which is whole or not there."""
    folder = here / NAME
    if os.path.lexists(folder):
        raise RooflabError(f"{folder} is there and is no kit of Rooflab: move it away, or start in another folder")
    try:
        with tempfile.TemporaryDirectory(dir=here, prefix=f".{NAME}.") as staging:
            _unpack(kit, staging)
            made = pathlib.Path(staging) / NAME
            (made / ".kit").mkdir(exist_ok=True)
            (made / MARK).write_text(_kit_sum(kit))
            made.rename(folder)
    except OSError as error:
        raise RooflabError(f"{folder} cannot be made: {error.strerror}; start in a folder that you may write to") from error
    return folder


def is_older(kit, folder):
    """Whether a folder was made by a wheel, and by another one than this."""
    mark = folder / MARK
    return mark.is_file() and mark.read_text() != _kit_sum(kit)


def renew(kit, folder):
    """Unpacks another kit over the folder's. It holds no file where students write: `grader update` brings those up to date."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{NAME}.") as staging:
        _unpack(kit, staging)
        made = pathlib.Path(staging) / NAME
        for file in sorted(made.rglob("*")):
            target = folder / file.relative_to(made)
            if file.is_dir() and not file.is_symlink():
                target.mkdir(exist_ok=True)
            else:
                file.replace(target)
    (folder / MARK).write_text(_kit_sum(kit))


def get_nvcc(folder):
    """NVIDIA's compiler from PyPI into the folder, as scripts/setup of a kit does it, where there is none. Says why not."""
    try:
        find_nvcc(Course(folder))
        return
    except RooflabError:
        pass
    script = 'SETUP_NAME=rooflab; source scripts/setup_common; if needs_cuda_wheels; then install_cuda_wheels; fi'
    environment = dict(os.environ, PATH=f"{pathlib.Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    if subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, env=environment).returncode != 0:
        print("rooflab: nvcc could not be installed; grading needs it, everything else works", file=sys.stderr)


def own_folder(here):
    """The folder to work in, made on first use."""
    folder = find_own(here)
    if folder is not None:
        if KIT.exists() and is_older(KIT, folder):
            renew(KIT, folder)
            print(f"rooflab: {folder} is brought up to date", file=sys.stderr)
        return folder
    if not KIT.exists():
        raise RooflabError("no student kit or checkout of Rooflab in this folder or above, and this package holds none: start in "
                           "one, or set ROOFLAB_ROOT to it")
    folder = make(KIT, here)
    print(f"rooflab: {folder} is your folder now; your files are in {folder}/starter", file=sys.stderr)
    return folder
