#include "grader/pipeline/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <span>

#include "grader/contract/cuda_libraries.h"
#include "grader/pipeline/build_cache.h"
#include "grader/pipeline/elf_symbols.h"
#include "grader/sandbox/sandbox.h"
#include "grader/spec/files.h"
#include "grader/spec/fnv1a.h"
#include "grader/spec/pattern.h"
#include "simgpu/machine_code/assembler.h"

namespace rooflab {
namespace {

constexpr std::size_t kLongestMessages = 32U << 10;
/// Of what a step makes: what is larger is an array that somebody filled in the source.
constexpr std::size_t kLargestMade = std::size_t{64} << 20;

/// Warnings are shown below a failure. What stubs and loops over a vector have is left out, and so
/// is what only the device's compiler knows (#pragma unroll). Nothing of a file is kept for its own
/// sake: see link_step. The lines of calls are told by the tables of -g1. An index beyond the end
/// of a vector ends the program at once.
constexpr const char* kHostOptions =
    "-fPIC,-g1,-Wall,-Wextra,-Wno-unused-parameter,-Wno-sign-compare,-Wno-unknown-pragmas,"
    "-fvisibility=hidden,-ffunction-sections,-fdata-sections,-D_GLIBCXX_ASSERTIONS";

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

/// What the tasks that hand this file in withhold of the toolkit.
std::vector<std::string> withheld_from(const PartSpec& part, const std::string& file) {
  std::vector<std::string> withheld;
  for (const TaskSpec& task : part.tasks) {
    if (task.file == file) {
      withheld.insert(withheld.end(), task.withheld.begin(), task.withheld.end());
    }
  }
  return withheld;
}

/// Puts an error with the reason in the place of each withheld header: that a file is missing
/// would look like a fault of the installation.
void withhold(const std::vector<std::string>& withheld,
              std::vector<std::pair<std::string, std::string>>& inputs) {
  for (auto& [path, text] : inputs) {
    const bool is_withheld = std::ranges::any_of(withheld, [&](const std::string& name) {
      const std::string place = "include/toolkit/" + name;
      return path == place || path.starts_with(place + "/");
    });
    if (is_withheld) {
      text = fmt::format("#error \"{} does what this task asks for: write it yourself\"\n",
                         path.substr(std::string_view("include/").size()));
    }
  }
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
/// linker. NVIDIA's wheels have libraries with their version alone.
std::string library_argument(const BuildOptions& options, const std::string& name) {
  for (const std::string& file : {"lib" + name + ".so", cuda_library(name)}) {
    const auto real = options.toolchain.libraries() / file;
    if (std::filesystem::exists(real)) return real.string();
    const auto simulated = options.installation.build / "lib" / "simgpu" / file;
    if (std::filesystem::exists(simulated)) return simulated.string();
  }
  return "-l" + name;
}

/// A named text as a part of a key.
std::string key_part(const std::string& name, const std::string& text) {
  return fmt::format("\n{} {}\n", name, text.size()) + text;
}

/// Code for the GPU at hand, and PTX for the simulated one.
std::string architecture(const BuildOptions& options) {
  if (options.for_simulation) {
    return fmt::format("arch=compute_{0},code=compute_{0}", options.compute_capability);
  }
  return fmt::format("arch=compute_{0},code=[sm_{0},compute_{0}]", options.compute_capability);
}

/// Whether a library needs or has a symbol that the task forbids. One that was built can be read.
bool has_forbidden(const std::filesystem::path& library, const TaskSpec& task) {
  return !all_forbidden(read_dynamic_symbols(library), forbidden_symbols(task)).empty();
}

/// For objcopy, a line for each function of the toolkit's that a task forbids: the name that it is
/// to have in submitted files, and nowhere else. Empty when there is none.
std::string withheld_symbols(const std::string& toolkit, const TaskSpec& task) {
  if (task.forbidden.empty()) return {};
  const std::vector<Pattern> forbidden(task.forbidden.begin(), task.forbidden.end());
  std::set<std::string> lines;
  for (const std::string& symbol : archive_symbols_in(toolkit)) {
    if (has_match(symbol, forbidden)) lines.insert(symbol + ' ' + withheld_name(symbol) + '\n');
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

/// Why a freshly linked library cannot be used, as a compiler would say it; empty when it can.
/// Directives of the assembler make sections that contradict the linker's.
std::string objection_to_library(const std::filesystem::path& library) {
  try {
    read_dynamic_symbols(library);
    return "";
  } catch (const ElfError& error) {
    return fmt::format(
        "error: the linked library cannot be read ({}); leave out assembler directives that make "
        "sections\n",
        error.what());
  }
}

/// Why what a step made is no use; empty when it is.
std::string objection_to(const std::filesystem::path& made, bool is_library) {
  if (std::filesystem::file_size(made) > kLargestMade) {
    return fmt::format(
        "error: the compiler made a file of more than {} MiB; fill large arrays when the program "
        "runs\n",
        kLargestMade >> 20);
  }
  return is_library ? objection_to_library(made) : "";
}

BuildOutcome fault(std::string reason) {
  BuildOutcome outcome;
  outcome.end = BuildOutcome::End::fault;
  outcome.messages = std::move(reason);
  return outcome;
}

/// Waits until no other thread is at a key, and keeps them away from it.
class Turn {
 public:
  Turn(std::mutex& mutex, std::condition_variable& changed, std::set<std::string>& busy,
       const std::string& key)
      : mutex_(mutex), changed_(changed), busy_(busy), key_(key) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return busy_.insert(key_).second; });
  }
  ~Turn() {
    {
      const std::lock_guard lock(mutex_);
      busy_.erase(key_);
    }
    changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::mutex& mutex_;
  std::condition_variable& changed_;
  std::set<std::string>& busy_;
  const std::string& key_;
};

}  // namespace

Builder::Step Builder::compile_step(const PartSpec& part, const SourceFile& source,
                                    const std::vector<SourceFile>& sources) const {
  const std::string file = part.directory + "/" + source.name;
  Step step;
  step.command = options_.toolchain.command(
      {"-std=c++20", "-O2", "-lineinfo", "-c", "-Xcompiler", kHostOptions, "-I",
       "include/interface",
       "-isystem",  // the toolkit's headers are not the student's to mend
       "include", "-gencode", architecture(options_), file, "-o", BuildCache::kFileName});
  constexpr double kShareOfUntimed = 0.25;
  step.has_kernels = options_.for_simulation && source.is_timed;
  step.share_of_time = source.is_timed ? 1 : kShareOfUntimed;
  // Copies of all that the file may include: nothing else of ours is before the compiler.
  step.inputs.emplace_back(file, source.text);
  for (const SourceFile& other : sources) {
    if (other.is_header) step.inputs.emplace_back(part.directory + "/" + other.name, other.text);
  }
  add_headers(part.root / "interface", "include/interface", step.inputs);
  add_headers(options_.installation.labs() / "toolkit", "include/toolkit", step.inputs);
  withhold(withheld_from(part, source.name), step.inputs);
  step.key = key_of(step.command);
  for (const auto& [path, text] : step.inputs) step.key += key_part(path, text);
  return step;
}

Builder::Step Builder::link_step(const PartSpec& part, const TaskSpec& task,
                                 const std::vector<Object>& objects) const {
  const std::string adapter = read_file(options_.installation.adapter(part.directory, task.entry));
  const std::string toolkit = read_file(options_.installation.toolkit_archive());
  Step step;
  for (const Object& object : objects) step.inputs.push_back(object.file);
  step.inputs.emplace_back("adapter.o", adapter);
  // Last, since the student's files and the adapter may both call it.
  step.inputs.emplace_back("toolkit.a", toolkit);
  const std::string withheld = withheld_symbols(toolkit, task);
  // Functions that nothing reaches from the adapter are left out, with all that they would call: an
  // included header brings in many, and only calls that can be made count as the student's.
  // Symbols are what the files' tables say, and no code of a link-time optimizer's.
  step.command = options_.toolchain.command({"-shared", "-Xcompiler", "-fPIC,-fno-lto", "-Xlinker",
                                             "--gc-sections", "-Xlinker", "--build-id", "-cudart",
                                             "shared", "-gencode", architecture(options_)});
  for (const auto& [name, contents] : step.inputs) step.command.push_back(name);
  for (const std::string& library : task.libraries) {
    if (library == "cupti") continue;  // the toolkit's profiler loads it when it runs
    step.command.push_back(library_argument(options_, library));
  }
  step.command.insert(step.command.end(), {"-o", BuildCache::kFileName});
  step.is_library = true;
  if (!withheld.empty()) {
    // The toolkit's own calls and the adapter's stay; a submission's reach nothing. What is given
    // to the sandbox cannot be written there.
    std::vector<std::string> renaming = {
        "sh", "-c",
        "for file do shift; [ \"$file\" = -- ] && exec \"$@\"; "
        "objcopy --redefine-syms=withheld \"given/$file\" \"$file\" || exit; done",
        "sh"};
    for (std::size_t i = 0; i < objects.size(); ++i) {
      renaming.push_back(step.inputs[i].first);
      step.inputs[i].first = "given/" + step.inputs[i].first;
    }
    renaming.emplace_back("--");
    step.command.insert(step.command.begin(), renaming.begin(), renaming.end());
    step.inputs.emplace_back("withheld", withheld);
  }
  step.key = key_of(step.command) + key_part("adapter.o", adapter) + key_part("withheld", withheld);
  for (const Object& object : objects) step.key += key_part(object.file.first, object.key);
  // Megabytes of our own, which nobody forges: a hash tells them apart.
  step.key += fmt::format("\ntoolkit {} {:016x}", toolkit.size(), fnv1a(toolkit));
  return step;
}

std::string Builder::key_of(const std::vector<std::string>& command) const {
  std::string key = options_.toolchain.version + '\n' + options_.toolchain.host_compiler;
  for (const std::string& word : command) key += '\0' + word;
  return key;
}

BuildOutcome Builder::run(const std::filesystem::path& folder, const Step& step) const {
  for (const auto& [path, text] : step.inputs) write_file_atomically(folder / path, text);
  SandboxRequest request;
  request.argv = step.command;
  request.working_directory = folder;
  request.read_only = {options_.toolchain.root};
  const auto simulated = options_.installation.build / "lib" / "simgpu";
  if (std::filesystem::exists(simulated)) request.read_only.push_back(simulated);
  request.writable = {{folder, {}}};
  request.limits.wall_s = step.share_of_time * options_.time_limit_s;
  request.limits.output_bytes = 4 * kLongestMessages;
  request.enabled = options_.sandbox;
  const SandboxOutcome run = run_sandboxed(request);

  BuildOutcome outcome;
  outcome.messages = run.output;
  replace_all(outcome.messages, folder.string() + "/", "");
  outcome.messages =
      capped(std::move(outcome.messages)) + limit_message(run, request.limits.wall_s);
  // The folder was writable for a while: only a real file counts as what was built.
  const auto library = folder / BuildCache::kFileName;
  const bool made =
      std::filesystem::symlink_status(library).type() == std::filesystem::file_type::regular;
  const bool succeeded = run.exit_code == 0 && run.signal == 0 && run.limit == LimitHit::none;
  const std::string objection = succeeded && made ? objection_to(library, step.is_library) : "";
  const bool is_good = succeeded && made && objection.empty();
  outcome.messages += objection;
  outcome.end = is_good ? BuildOutcome::End::built : BuildOutcome::End::failed;
  const bool by_itself = run.limit == LimitHit::none || run.limit == LimitHit::output;
  outcome.repeatable = by_itself && run.signal == 0;
  if (outcome.end == BuildOutcome::End::built && step.has_kernels) {
    const std::string refusal = assemble(library);
    if (!refusal.empty()) outcome.end = BuildOutcome::End::failed;
    outcome.messages = capped(outcome.messages + refusal);
  }
  if (outcome.end == BuildOutcome::End::built) {
    outcome.library = library;
  } else {
    std::error_code ignored;
    std::filesystem::remove_all(library, ignored);
    if (outcome.messages.empty()) outcome.messages = "the compiler failed and said nothing\n";
  }
  return outcome;
}

std::string Builder::assemble(const std::filesystem::path& object) const {
  using simgpu::machine_code::Assembled;
  const simgpu::machine_code::Assembler assembler(
      sandboxed_assembler(options_.installation, options_.toolchain, options_.sandbox));
  const auto capability = static_cast<unsigned>(options_.compute_capability);
  const std::string contents = read_file(object, kLargestMade);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.time_limit_s);
  for (const std::string& ptx :
       simgpu::machine_code::ptx_within(std::as_bytes(std::span(contents)), capability)) {
    for (const std::string& text : simgpu::machine_code::as_assembled(ptx)) {
      // A device assembles what is left here, when it is used.
      if (std::chrono::steady_clock::now() > end) return "";
      const Assembled assembled =
          assembler.assemble(text, simgpu::machine_code::architecture_of(text, capability));
      if (assembled.end == Assembled::End::refused) return assembled.why + "\n";
    }
  }
  return "";
}

BuildOutcome Builder::make(const Step& step) const {
  const BuildCache cache(options_.installation.cache / "build");
  const Turn turn(mutex_, changed_, busy_, step.key);
  if (auto known = cache.find(step.key)) return *known;
  const TemporaryFolder staging(cache.folder());
  BuildOutcome outcome = run(staging.path(), step);
  if (outcome.end != BuildOutcome::End::built) cache.require_room();
  if (!outcome.repeatable) return outcome;
  BuildOutcome kept = cache.keep(step.key, outcome, staging.path());
  cache.prune();
  return kept;
}

Builder::Step Builder::trace_step(const PartSpec& part, const SourceFile& source,
                                  const std::vector<SourceFile>& sources) const {
  Step step = compile_step(part, source, sources);
  const std::string file = part.directory + "/" + source.name;
  for (auto& [path, text] : step.inputs) {
    if (path.starts_with(part.directory + "/")) text = without_line_directives(text);
  }
  const std::string ptx =
      fmt::format("arch=compute_{0},code=compute_{0}", options_.compute_capability);
  // Host code that makes each call where the source has it, and whose macros are those of the
  // build: a file could hide a call from a compiler that does not optimize. DWARF 5 is not yet read
  // in objects by every nm. Machine code for the GPU is not looked at.
  step.command = options_.toolchain.command(
      {"-std=c++20", "-O1", "-c", "-Xcompiler",
       "-fPIC,-ffunction-sections,-g1,-gdwarf-4,-fno-inline,-U__NO_INLINE__", "-I",
       "include/interface", "-I", "include", "-gencode", ptx, file, "-o", BuildCache::kFileName});
  step.key = key_of(step.command);
  for (const auto& [path, text] : step.inputs) step.key += key_part(path, text);
  return step;
}

std::vector<std::string> Builder::header_folders() const {
  // Steps run in folders of the cache, with copies of our headers in them.
  return {(BuildCache(options_.installation.cache / "build").folder() / "*" / "include").string(),
          options_.toolchain.root.string(), "/usr/include", "/usr/lib/gcc"};
}

TracedFile Builder::trace(const PartSpec& part, const SourceFile& source,
                          const std::vector<SourceFile>& sources) const {
  TracedFile traced{.name = source.name,
                    .text = source.text,
                    .headers = {},
                    .header_folders = header_folders(),
                    .references = {},
                    .places = {}};
  for (const SourceFile& other : sources) {
    if (other.is_header) traced.headers.emplace(other.name, other.text);
  }
  const Step compile = trace_step(part, source, sources);
  const BuildOutcome compiled = make(compile);
  if (compiled.end != BuildOutcome::End::built) return traced;
  Step list;
  list.command = {
      "sh", "-c",
      fmt::format("nm --line-numbers --defined-only traced.o > {}", BuildCache::kFileName)};
  list.inputs.emplace_back("traced.o", read_file(compiled.library, kLargestMade));
  list.key = key_of(list.command) + key_part("traced.o", compile.key);
  const BuildOutcome listed = make(list);
  if (listed.end != BuildOutcome::End::built) return traced;
  try {
    traced.references = read_references(compiled.library);
  } catch (const ElfError&) {
    return traced;
  }
  traced.places = read_file(listed.library, kLargestMade);
  traced.complete = true;
  return traced;
}

BuildOutcome Builder::build(const PartSpec& part, const TaskSpec& task,
                            const std::vector<SourceFile>& sources) const {
  try {
    std::vector<Object> objects;
    std::string messages;
    bool cached = true;
    for (const SourceFile& source : sources) {
      if (source.is_header) continue;
      const Step step = compile_step(part, source, sources);
      BuildOutcome compiled = make(step);
      if (compiled.end != BuildOutcome::End::built) {
        compiled.file = source.name;
        return compiled;
      }
      cached = cached && compiled.cached;
      messages += compiled.messages;
      objects.push_back({{source.name + ".o", read_file(compiled.library)}, step.key});
    }
    BuildOutcome linked = make(link_step(part, task, objects));
    linked.cached = linked.cached && cached;
    linked.messages = capped(messages + linked.messages);
    linked.warnings = compiler_warnings(messages, part.directory);
    if (linked.end == BuildOutcome::End::built && has_forbidden(linked.library, task)) {
      for (const SourceFile& source : sources) {
        if (!source.is_header) linked.traced.push_back(trace(part, source, sources));
      }
    }
    return linked;
  } catch (const SandboxError& error) {
    return fault(error.what());
  } catch (const ElfError& error) {
    return fault(
        fmt::format("{}: {}", options_.installation.toolkit_archive().string(), error.what()));
  }
}

}  // namespace rooflab
