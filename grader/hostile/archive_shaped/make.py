import gzip
import io
import os
import tarfile
import zipfile

from harness.checkout import PART
from harness.collection import honest_files


def member(name, **fields):
    info = tarfile.TarInfo(name)
    for key, value in fields.items():
        setattr(info, key, value)
    return info


def add_right_files(archive):
    for file, text in honest_files().items():
        archive.addfile(member(f"{PART}/{file}", size=len(text.encode())), io.BytesIO(text.encode()))


def tar_with(submissions, name, members, form=tarfile.GNU_FORMAT):
    with tarfile.open(submissions / f"{name}.tar", "w", format=form) as archive:
        add_right_files(archive)
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))


def zip_with(submissions, name, entries):
    with zipfile.ZipFile(submissions / f"{name}.zip", "w") as archive:
        for file, text in honest_files().items():
            archive.writestr(f"{PART}/{file}", text)
        for entry, data in entries:
            archive.writestr(entry, data)
    return submissions / f"{name}.zip"


def make_entry_hard_links(submissions, name):
    tar_with(submissions, name, [(member(f"{PART}/x.h", type=tarfile.LNKTYPE, linkname="../../../etc/passwd"), b"")])


def make_entry_devices(submissions, name):
    tar_with(submissions, name, [(member(f"{PART}/x.h", type=tarfile.CHRTYPE, devmajor=1, devminor=5), b""),
                                 (member(f"{PART}/y.h", type=tarfile.FIFOTYPE), b"")])


def make_entry_one_name_twice(submissions, name):
    tar_with(submissions, name, [(member(f"{PART}/counters.cpp", size=1), b"x")])


def make_entry_pax_leads_out(submissions, name):
    info = member("a.h", size=3, pax_headers={"path": "../../rooflab_was_here"})
    tar_with(submissions, name, [(info, b"out")], tarfile.PAX_FORMAT)


def make_entry_gnu_leads_out(submissions, name):
    tar_with(submissions, name, [(member("../" * 60 + "tmp/rooflab_was_here", size=3), b"out")])


def make_entry_sizes_that_lie(submissions, name):
    tar_with(submissions, name, [])
    file = submissions / f"{name}.tar"
    data = bytearray(file.read_bytes())
    data[124:136] = b"77777777777\0"
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    file.write_bytes(data)


def make_entry_deep(submissions, name):
    zip_with(submissions, name, [("d/" * 500 + "f.h", "x")])


def make_entry_encrypted(submissions, name):
    file = zip_with(submissions, name, [])
    data = bytearray(file.read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + at] |= 1
            place = data.find(mark, place + 4)
    file.write_bytes(data)


def make_entry_cut_short(submissions, name):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        add_right_files(archive)
    (submissions / f"{name}.tar.gz").write_bytes(packed.getvalue()[:-40])


def make_entry_zeros_in_gzip(submissions, name):
    header = member(f"{PART}/zeros.h", size=2 << 30).tobuf(tarfile.GNU_FORMAT)
    with gzip.open(submissions / f"{name}.tar.gz", "wb", compresslevel=1) as packed:
        packed.write(header)
        for _ in range(512):
            packed.write(bytes(1 << 20))


def make_entry_sparse(submissions, name):
    info = member(f"{PART}/sparse.h", size=0, pax_headers={
        "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.name": f"{PART}/sparse.h",
        "GNU.sparse.size": str(1 << 40), "GNU.sparse.numblocks": "0", "GNU.sparse.map": ""})
    tar_with(submissions, name, [(info, b"")], tarfile.PAX_FORMAT)


def make_entry_strange_bytes(submissions, name):
    zip_with(submissions, name, [("\x1b[2J=cmd|' C'!A0.h", "x"), ("\u202e\uff1d1.h", "x"), ("a\nb.h", "x")])
    file = submissions / f"{name}.zip"
    file.write_bytes(file.read_bytes().replace("\u202e".encode(), b"\xff\xfe\xfd"))


def make_entry_modes(submissions, name):
    infos = [(member(f"{PART}/s{mode:o}.h", size=1, mode=mode, uid=0, gid=0, uname="root"), b"x")
             for mode in (0o7777, 0o4755, 0o000, 0o222)]
    tar_with(submissions, name, infos)


def make_entry_archive_in_archive(submissions, name):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        for file, text in honest_files().items():
            archive.writestr(f"{PART}/{file}", text)
    for _ in range(2):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w") as archive:
            archive.writestr("inner.zip", inner.getvalue())
        inner = outer
    (submissions / f"{name}.zip").write_bytes(inner.getvalue())
    os.utime(submissions / f"{name}.zip", (0, 0))
