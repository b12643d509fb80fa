// libFuzzer's entry to the readers of what was built of a student's file: any bytes are symbols and
// references, no longer together than they may be, or an ElfError; and all of them are searched and
// told of. The bytes are read as a file, and make one.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "grader/pipeline/elf_symbols.h"
#include "grader/pipeline/forbidden_calls.h"
#include "simgpu/fuzzing/grammar/elf_bytes.h"

namespace rooflab {
namespace {

constexpr std::array<std::string_view, 9> kSections = {".dynsym",   ".dynstr",    ".symtab",
                                                       ".strtab",   ".rela.text", ".text",
                                                       ".eh_frame", ".data",      ".gnu.version"};
constexpr std::array<std::string_view, 8> kSymbols = {
    "f", "cublasSgemm_v", "_Z3runPf", "dlsym", "_ZN7rooflab3addE", "_ZL12cublasGemmExPf",
    "",  "_GLOBAL__x"};

void require(bool holds) {
  if (!holds) std::abort();
}

void read(std::string_view bytes) {
  TaskSpec task;
  task.file = "gemm.cu";
  task.forbidden = {"^cublas", "(.*x)?add", "^_ZN7rooflab"};
  TracedFile traced{
      .name = "gemm.cu",
      .text = "void run() {\n  cublasSgemm();\n}\n",
      .header_folders = {"/usr"},
      .references = {},
      .places = "0 T _Z3runPf\t/tmp/p/gemm.cu:1\n0 t _ZL12cublasGemmExPf\t/usr/cublas.h:9\n",
      .complete = true};
  try {
    traced.references = references_in(bytes);
  } catch (const ElfError&) {
    traced.complete = false;
  }
  DynamicSymbols symbols;
  try {
    symbols = dynamic_symbols_in(bytes);
  } catch (const ElfError& error) {
    require(!std::string_view(error.what()).empty());
    for (const Reference& reference : traced.references)
      symbols.undefined.push_back(reference.symbol);
  }
  std::size_t name_bytes = 0;
  for (const auto* table : {&symbols.undefined, &symbols.defined}) {
    for (const std::string& name : *table) name_bytes += name.size();
  }
  require(name_bytes <= (std::size_t{128} << 20));
  for (const ForbiddenCall& call : forbidden_calls_of(symbols, task, {traced}))
    require(!call.symbol.empty());
}

}  // namespace
}  // namespace rooflab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  rooflab::read(bytes);
  simgpu::fuzzing::Choices choices(bytes);
  rooflab::read(simgpu::fuzzing::ElfBytes(choices, rooflab::kSections, rooflab::kSymbols).bytes());
  return 0;
}
