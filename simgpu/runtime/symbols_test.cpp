#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

// What the simulated GPU's libraries export, against NVIDIA's libraries of the same names.
namespace {

using ::testing::IsEmpty;

struct Symbol {
  std::string name;
  bool weak = false;  ///< nobody but the generator of refusals defined it
  bool operator<(const Symbol& other) const { return name < other.name; }
};

/// The functions that a library exports, sorted.
std::vector<Symbol> exported(const std::filesystem::path& library) {
  const std::string command =
      "nm --dynamic --defined-only --format=posix '" + library.string() + "' 2>/dev/null";
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c)
  if (pipe == nullptr) return {};
  std::string text;
  std::array<char, 4096> chunk{};
  while (fgets(chunk.data(), chunk.size(), pipe) != nullptr) text += chunk.data();
  pclose(pipe);
  std::vector<Symbol> symbols;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, type;
    fields >> name >> type;
    if (type == "T" || type == "W")
      symbols.push_back({name.substr(0, name.find('@')), type == "W"});
  }
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

/// NVIDIA's library in the toolkit that has our nvcc, or an empty path.
std::filesystem::path of_the_toolkit(const std::string& file) {
  for (const char* folder :
       {"lib", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"}) {
    const auto library = std::filesystem::path(ROOFLAB_CUDA_ROOT) / folder / file;
    if (std::filesystem::exists(library)) return library;
  }
  return {};
}

class Symbols : public ::testing::TestWithParam<std::string> {
 protected:
  std::string file() const { return "lib" + GetParam() + ".so.13"; }
  std::filesystem::path ours() const {
    return std::filesystem::path(ROOFLAB_BINARY_DIR) / "lib/simgpu" / file();
  }
};

TEST_P(Symbols, AreAllThatNvidiasLibraryHas) {
  const std::filesystem::path library = of_the_toolkit(file());
  if (library.empty()) GTEST_SKIP() << "no " << file() << " in " << ROOFLAB_CUDA_ROOT;
  const std::vector<Symbol> wanted = exported(library), present = exported(ours());
  ASSERT_GT(wanted.size(), 100u) << "nm lists nothing of " << library;
  std::vector<std::string> missing;
  for (const Symbol& symbol : wanted) {
    if (!std::binary_search(present.begin(), present.end(), symbol)) missing.push_back(symbol.name);
  }
  EXPECT_THAT(missing, IsEmpty()) << "add them to public_functions.txt";
}

TEST_P(Symbols, WithoutAnImplementationRefuseByTheirName) {
  void* library = dlopen(ours().c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  std::size_t refusals = 0;
  for (const Symbol& symbol : exported(ours())) {
    if (!symbol.weak) continue;
    ++refusals;
    auto* function = reinterpret_cast<int (*)()>(dlsym(library, symbol.name.c_str()));
    ASSERT_NE(function, nullptr) << symbol.name;
    testing::internal::CaptureStderr();
    const int error = function();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "simgpu: " + symbol.name + " is not implemented\n");
    EXPECT_NE(error, 0) << symbol.name;
  }
  EXPECT_GT(refusals, 0u) << "nm lists no weak functions";
}

INSTANTIATE_TEST_SUITE_P(Of, Symbols, ::testing::Values("cudart", "cublas", "cupti"),
                         [](const auto& library) { return library.param; });

}  // namespace
