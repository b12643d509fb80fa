#include "grader/pipeline/build.h"

#include <fmt/format.h>

#include <algorithm>

#include "grader/pipeline/build_cache.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/files.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestMessages = 32U << 10;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// Cuts at a line's end, and says so.
std::string capped(std::string text) {
  if (text.size() <= kLongestMessages) return text;
  text.resize(kLongestMessages);
  if (const std::size_t end = text.rfind('\n'); end != std::string::npos) text.resize(end + 1);
  return text + "(the compiler said more than 32 KiB; mend the first errors first)\n";
}

/// The headers under `folder`, sorted, as they will lie under `prefix`.
void add_headers(const std::filesystem::path& folder, const std::string& prefix,
                 std::vector<std::pair<std::string, std::string>>& inputs) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    const auto extension = entry.path().extension();
    if (entry.is_regular_file() && (extension == ".h" || extension == ".cuh")) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    const std::string inside = prefix + "/" + file.lexically_relative(folder).string();
    inputs.emplace_back(inside, read_file(file));
  }
}

std::string limit_message(const SandboxOutcome& outcome, double time_limit_s) {
  switch (outcome.limit) {
    case LimitHit::none:
      return "";
    case LimitHit::time:
      return fmt::format("the compiler was stopped after {} s\n", time_limit_s);
    case LimitHit::output:
      return "the compiler was stopped: it wrote too many messages\n";
    case LimitHit::memory:
    case LimitHit::disk:
    case LimitHit::processes:
      return fmt::format("the compiler was stopped: it used too much {}\n", name_of(outcome.limit));
  }
  return "";
}

/// The toolkit's library, else the simulated one beside our runtime, else a bare name for the
/// linker.
std::string library_argument(const BuildOptions& options, const std::string& name) {
  const std::string file = "lib" + name + ".so";
  const auto real = options.toolchain.root / "lib64" / file;
  if (std::filesystem::exists(real)) return real.string();
  const auto simulated = options.installation.build / "lib" / "simgpu" / file;
  if (std::filesystem::exists(simulated)) return simulated.string();
  return "-l" + name;
}

}  // namespace

std::vector<Builder::Input> Builder::inputs(const PartSpec& part, const TaskSpec& task,
                                            const std::string& source) const {
  // Copies of all that the file may include: nothing else of ours is before the compiler.
  std::vector<Input> inputs;
  inputs.emplace_back(part.directory + "/" + task.file, source);
  add_headers(part.root / "interface", "include/interface", inputs);
  add_headers(options_.installation.labs() / "toolkit", "include/toolkit", inputs);
  inputs.emplace_back("adapter.o",
                      read_file(options_.installation.adapter(part.directory, task.entry)));
  return inputs;
}

std::vector<std::string> Builder::command(const PartSpec& part, const TaskSpec& task) const {
  const int arch = options_.compute_capability;
  std::vector<std::string> words = {options_.toolchain.nvcc.string(),
                                    "-std=c++20",
                                    "-O2",
                                    "-lineinfo",
                                    "-shared",
                                    "-Xcompiler",
                                    "-fPIC,-Wall",
                                    "-cudart",
                                    "shared",
                                    "-I",
                                    "include/interface",
                                    "-I",
                                    "include",
                                    "-gencode",
                                    fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", arch),
                                    part.directory + "/" + task.file,
                                    "adapter.o"};
  for (const std::string& library : task.libraries)
    words.push_back(library_argument(options_, library));
  words.insert(words.end(), {"-o", BuildCache::kLibraryName});
  return words;
}

BuildOutcome Builder::compile(const std::filesystem::path& folder, const std::vector<Input>& inputs,
                              const std::vector<std::string>& command) const {
  for (const auto& [path, text] : inputs) write_file_atomically(folder / path, text);
  SandboxRequest request;
  request.argv = command;
  request.working_directory = folder;
  request.read_only = {options_.toolchain.root};
  const auto simulated = options_.installation.build / "lib" / "simgpu";
  if (std::filesystem::exists(simulated)) request.read_only.push_back(simulated);
  request.writable = {{folder, {}}};
  request.limits.wall_s = options_.time_limit_s;
  request.limits.output_bytes = 4 * kLongestMessages;
  request.enabled = options_.sandbox;
  const SandboxOutcome run = run_sandboxed(request);

  BuildOutcome outcome;
  outcome.messages = run.output;
  replace_all(outcome.messages, folder.string() + "/", "");
  outcome.messages =
      capped(std::move(outcome.messages)) + limit_message(run, options_.time_limit_s);
  // The folder was writable for a while: only a real file counts as the library.
  const auto library = folder / BuildCache::kLibraryName;
  const bool made =
      std::filesystem::symlink_status(library).type() == std::filesystem::file_type::regular;
  const bool succeeded = run.exit_code == 0 && run.signal == 0 && run.limit == LimitHit::none;
  outcome.end = succeeded && made ? BuildOutcome::End::built : BuildOutcome::End::failed;
  const bool by_itself = run.limit == LimitHit::none || run.limit == LimitHit::output;
  outcome.repeatable = by_itself && run.signal == 0;
  if (outcome.end == BuildOutcome::End::built) {
    outcome.library = library;
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(library, ignored);
    if (outcome.messages.empty()) outcome.messages = "the compiler failed and said nothing\n";
  }
  return outcome;
}

BuildOutcome Builder::build(const PartSpec& part, const TaskSpec& task,
                            const std::string& source) const {
  try {
    const std::vector<Input> files = inputs(part, task, source);
    const std::vector<std::string> words = command(part, task);
    std::string key = options_.toolchain.version + '\n' + options_.toolchain.host_compiler;
    for (const std::string& word : words) key += '\0' + word;
    for (const auto& [path, text] : files)
      key += fmt::format("\n{} {}\n", path, text.size()) + text;

    const BuildCache cache(options_.installation.cache / "build");
    if (auto known = cache.find(key)) return *known;
    const TemporaryFolder staging(cache.folder());
    const BuildOutcome outcome = compile(staging.path(), files, words);
    if (!outcome.repeatable) return outcome;
    BuildOutcome kept = cache.keep(key, outcome, staging.path());
    cache.prune();
    return kept;
  } catch (const SandboxError& error) {
    return {.end = BuildOutcome::End::fault, .library = {}, .messages = error.what()};
  }
}

}  // namespace rooflab
