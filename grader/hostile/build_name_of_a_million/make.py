def make(_submission, _part, file):
    name = "cublas_v" + "9" * 500_000
    file.write_text(f'asm(".text\\n.globl {name}\\n{name}: ret\\n");\n' + file.read_text())
