import io
import zipfile

from harness.checkout import PART


def make_entry(submissions, name):
    """Layers of zip: each holds the one below ten times."""
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr(f"{PART}/counters.cpp", bytes(64 << 20))
    for _ in range(3):
        outer = io.BytesIO()
        with zipfile.ZipFile(outer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for number in range(10):
                archive.writestr(f"{PART}/inner{number}.zip", inner.getvalue())
            archive.writestr(f"{PART}/counters.cpp", bytes(64 << 20))
        inner = outer
    (submissions / f"{name}.zip").write_bytes(inner.getvalue())
