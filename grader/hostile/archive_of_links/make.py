import io
import tarfile

from harness.checkout import PART, ROOT


def make_entry(submissions, name):
    with tarfile.open(submissions / f"{name}.tar.gz", "w:gz") as archive:
        def add(path, kind, target="", text=b""):
            member = tarfile.TarInfo(path)
            member.type, member.linkname, member.size = kind, target, len(text)
            archive.addfile(member, io.BytesIO(text))

        hidden = str(ROOT / "solutions" / PART / "hidden.toml")
        add(f"{PART}/counters.cpp", tarfile.SYMTYPE, hidden)
        add(f"{PART}/gemm_naive.cu", tarfile.LNKTYPE, hidden)
        add("out", tarfile.SYMTYPE, "/tmp")
        add("out/rooflab_was_here", tarfile.REGTYPE, text=b"out")
        add(f"{PART}/pipe", tarfile.FIFOTYPE)
        add(f"{PART}/device", tarfile.CHRTYPE)
