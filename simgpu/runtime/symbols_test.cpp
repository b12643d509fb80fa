#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

// What the simulated GPU's libraries export, against NVIDIA's libraries of the same names.
namespace {

using ::testing::IsEmpty;

struct Symbol {
  std::string name;
  std::string version = {};
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
    if (type != "T" && type != "W") continue;
    const std::size_t end = name.find('@'), version = name.find_last_of('@') + 1;
    symbols.push_back(
        {name.substr(0, end), end == name.npos ? "" : name.substr(version), type == "W"});
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

/// The functions that a file beside a library's sources lists; none where there is no such file.
std::vector<std::string> listed(const std::string& file) {
  std::ifstream list(std::filesystem::path(ROOFLAB_SOURCE_DIR) / "simgpu" / file);
  std::vector<std::string> functions;
  for (std::string function; list >> function;) functions.push_back(function);
  return functions;
}

struct Library {
  std::string name;
  std::string folder;  ///< of simgpu/
  int cuda = 0;
};

class Symbols : public ::testing::TestWithParam<Library> {
 protected:
  std::string file() const {
    return "lib" + GetParam().name + ".so." + std::to_string(GetParam().cuda);
  }
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

TEST_P(Symbols, AreAllThatAreListedUnderTheLibrarysVersion) {
  const std::vector<Symbol> present = exported(ours());
  std::vector<std::string> missing;
  const std::string& folder = GetParam().folder;
  for (const std::string& list :
       {folder + "/public_functions.txt",
        folder + "/cuda" + std::to_string(GetParam().cuda) + "/public_functions.txt"}) {
    for (const std::string& function : listed(list)) {
      const auto found = std::lower_bound(present.begin(), present.end(), Symbol{.name = function});
      const bool is_there =
          found != present.end() && found->name == function && found->version == file();
      if (!is_there) missing.push_back(function);
    }
  }
  ASSERT_GT(present.size(), 100u);
  EXPECT_THAT(missing, IsEmpty());
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

INSTANTIATE_TEST_SUITE_P(
    Of, Symbols,
    ::testing::Values(Library{"cudart", "runtime", 12}, Library{"cudart", "runtime", 13},
                      Library{"cublas", "cublas", 12}, Library{"cublas", "cublas", 13},
                      Library{"cupti", "cupti", 12}, Library{"cupti", "cupti", 13}),
    [](const auto& library) {
      return library.param.name + "_of_cuda_" + std::to_string(library.param.cuda);
    });

}  // namespace
