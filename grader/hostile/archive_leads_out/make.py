import zipfile

from harness.checkout import PART
from harness.collection import right_texts


def make_entry(submissions, name):
    with zipfile.ZipFile(submissions / f"{name}.zip", "w") as archive:
        for file, text in right_texts().items():
            archive.writestr(f"{PART}/{file}", text)
        for place in ("../rooflab_was_here", "../../../../../../../../tmp/rooflab_was_here", "/tmp/rooflab_was_here",
                      "/var/tmp/rooflab_was_here", f"{PART}/../../../../rooflab_was_here", "C:\\rooflab_was_here"):
            archive.writestr(place, "out")
