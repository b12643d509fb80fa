def make(submission, part, file):
    """Written here rather than in full: an editor that expands it is an attack of its own."""
    lines = ["#define LAUGH0 1 +"]
    lines += [f"#define LAUGH{i} LAUGH{i - 1} LAUGH{i - 1}" for i in range(1, 41)]
    file.write_text("\n".join(lines) + "\nstatic long use = LAUGH40 0;\n" + file.read_text())
