def make(submission, part, file):
    for name in ("counters.h", "toolkit/todo.h", "toolkit/cost.h", "cuda_runtime.h", "cstdint", "include/counters.h",
                 "CMakeLists.txt", "Makefile", "compile_flags.txt", "adapter.o", "toolkit.a", "nvcc.profile",
                 "../CMakeLists.txt", "../labs/part.toml", "../../rooflab.toml"):
        shadow = part / name
        shadow.parent.mkdir(parents=True, exist_ok=True)
        shadow.write_text("#error shadowed\nmessage(FATAL_ERROR shadowed)\n")
