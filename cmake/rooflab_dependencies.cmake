# Third-party libraries: the system's first (find_package), else the pinned source (FetchContent), so that
# people with neither root nor apt can build too.

include(FetchContent)
find_package(Threads REQUIRED)
find_package(PkgConfig)

find_package(fmt 9 QUIET)
find_package(nlohmann_json 3.11 QUIET)
find_package(CLI11 2.1 QUIET)
find_package(tomlplusplus 3.3 QUIET)
find_package(GTest 1.12 QUIET)
find_package(benchmark 1.7 QUIET)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(openblas REQUIRED IMPORTED_TARGET openblas)
