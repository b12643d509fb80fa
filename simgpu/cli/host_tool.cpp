#include "simgpu/cli/host_tool.h"

#include <cstdlib>
#include <sstream>
#include <string_view>

#include "simgpu/toolchain/bounded_command.h"
#include "simgpu/toolchain/work_folder.h"

namespace simgpu::cli {

std::filesystem::path program_file(const std::string& word) {
  if (word.find('/') != std::string::npos) return word;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = std::filesystem::path(folder) / word;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) return file;
  }
  return {};
}

std::string run_tool(const std::vector<std::string>& command) {
  constexpr std::size_t kMostOutput = std::size_t{1} << 20;
  const toolchain::WorkFolder folder(std::filesystem::temp_directory_path());
  if (folder.path().empty()) return {};
  const auto output = folder.path() / "output";
  const toolchain::Command bounded{
      .words = command,
      .output = output.string(),
      .bounds = {.processor_seconds = 5, .elapsed_seconds = 5, .file_bytes = kMostOutput}};
  if (!toolchain::run_bounded(bounded).succeeded()) return {};
  const auto text = toolchain::read_made_file(output, kMostOutput);
  if (!text) return {};
  return {reinterpret_cast<const char*>(text->data()), text->size()};
}

bool is_own_source(const std::string& file) {
  for (const std::string_view folder : {"/usr/", "/opt/", "/lib/"}) {
    if (file.starts_with(folder)) return false;
  }
  return file.find("/cuda/") == std::string::npos && file.find("/crt/") == std::string::npos &&
         file.find("cuda_runtime") == std::string::npos;
}

}  // namespace simgpu::cli
