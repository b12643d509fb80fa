#include "grader/diagnose/stream_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "grader/diagnose/story.h"
#include "simgpu/source/host_calls.h"

namespace rooflab {
namespace {

using simgpu::HostCall;

/// "rmsnorm_kernel" of "rmsnorm_kernel<float>"; empty where no kernel did the work.
std::string kernel_of(const simgpu::Finding& finding) {
  std::string kernel = kernel_name(finding.kernel);
  kernel.resize(std::min(kernel.find('<'), kernel.size()));
  return kernel;
}

/// What the work is, and what of the source may have asked for it.
struct Piece {
  std::string name;    ///< "`rmsnorm_kernel` is launched", "a memset is issued"
  std::string prefix;  ///< of the functions that ask for it; empty for a launch
  const char* help = "";
};

Piece piece_of(const simgpu::Finding& finding, simgpu::StreamWork work) {
  switch (work) {
    case simgpu::StreamWork::kernel:
      return {
          fmt::format("`{}` is launched", kernel_of(finding)), "",
          "pass `stream` as the fourth launch argument: kernel<<<grid, block, 0, stream>>>(...)"};
    case simgpu::StreamWork::library_call:
      return {"a product of cuBLAS runs", "cublas",
              "call cublasSetStream(handle, stream) before the product, or pass `stream` to "
              "rooflab::linear: a handle stays on the stream that it was set to last"};
    case simgpu::StreamWork::fill:
      return {"a memset is issued", "cudaMemset",
              "use cudaMemsetAsync and pass `stream` as its last argument"};
    case simgpu::StreamWork::release:
      return {"memory is freed", "cudaFreeAsync", "pass `stream` to cudaFreeAsync"};
    case simgpu::StreamWork::copy:
      return {"a copy is issued", "cudaMemcpy",
              "use cudaMemcpyAsync and pass `stream` as its last argument; a copy to the host sees "
              "nothing that is still on its way on `stream`"};
  }
  return {};
}

struct Place {
  std::string file;
  std::uint32_t line = 0;
};

/// Where a kernel's launch names a stream, the wrong one was handed to it.
constexpr const char* kPassOn =
    "pass `stream` on to the function that launches it: on the way there, nullptr or 0 stands in "
    "its place";

/// Where the source asks for the work: the only launch of this kernel, or call of such a function,
/// that is on the default stream. Where no launch has the kernel's name, it goes by a pointer.
std::optional<Place> place_in_source(const simgpu::Finding& finding, const Piece& work,
                                     bool on_default, const DiagnoseContext& context) {
  std::string kernel = kernel_of(finding);
  kernel.erase(0, kernel.rfind(':') == std::string::npos ? 0 : kernel.rfind(':') + 1);
  std::vector<Place> by_name, others;
  for (const auto& [file, text] : context.sources) {
    for (const HostCall& call : simgpu::host_calls(text)) {
      const bool fits = finding.kernel.empty()
                            ? !call.is_launch && call.name.starts_with(work.prefix)
                            : call.is_launch;
      if (!fits || (on_default && work.prefix != "cublas" && !is_on_default_stream(call))) continue;
      const bool is_named = finding.kernel.empty() || call.name == kernel;
      (is_named ? by_name : others).push_back({file, call.line});
    }
  }
  if (!by_name.empty() && (on_default || by_name.size() == 1)) return by_name.front();
  if (by_name.empty() && others.size() == 1) return others.front();
  return std::nullopt;
}

}  // namespace

Diagnostic explain_off_the_stream(const simgpu::Finding& finding, const DiagnoseContext& context) {
  Diagnostic story = begin_story(finding.code, context);
  const simgpu::StreamConflict conflict = finding.stream.value_or(simgpu::StreamConflict{});
  const Piece work = piece_of(finding, conflict.work);
  const bool on_default = conflict.on_default_stream;
  const bool gives_stream = !conflict.callers_is_default;
  const char* callers = gives_stream ? "`stream`" : "the default stream";
  const std::string memory =
      finding.name.empty() ? "its memory" : fmt::format("`{}`", finding.name);
  story.message = fmt::format(
      "{} on {}, and not on {}: nothing makes {}", work.name,
      on_default ? "the default stream" : "another stream", callers,
      conflict.starts_early ? fmt::format("it wait for what comes before it there, and it uses "
                                          "{} too early",
                                          memory)
                            : fmt::format("{} wait for it, and what comes behind the "
                                          "function may use {} too early",
                                          callers, memory));
  const auto place = place_in_source(finding, work, on_default, context);
  if (place) {
    story.file = place->file;
    story.line = place->line;
    story.labels.push_back(label_at(place->file, place->line, 0,
                                    on_default ? "on the default stream" : "on another stream",
                                    context));
  }
  if (finding.where.line > 0) {
    if (!place) {
      story.file = student_path(finding.where.file, context);
      story.line = finding.where.line;
    }
    // An access in a header tells nothing beside the launch.
    if (!place || context.sources.contains(student_path(finding.where.file, context))) {
      story.labels.push_back(label_at(finding.where.file, finding.where.line, finding.where.column,
                                      finding.where.writes ? "writes it here" : "reads it here",
                                      context));
    }
  }
  if (!finding.kernel.empty()) story.context = "kernel " + kernel_name(finding.kernel);
  if (context.hidden) {
    note_hidden(story);
  } else if (!context.case_name.empty()) {
    story.context += fmt::format("{}case {}", story.context.empty() ? "" : ", ", context.case_name);
  }
  story.notes.push_back(fmt::format(
      "{} was made with cudaStreamNonBlocking: the default stream and it do not wait for "
      "each other, and on a real GPU their work runs in any order",
      gives_stream ? "the stream" : "the other stream"));
  const bool is_passed_on = !place && !finding.kernel.empty();
  if (gives_stream && on_default) {
    story.help = is_passed_on ? kPassOn : work.help;
  } else {
    story.help = fmt::format(
        "let the other stream wait for an event that was recorded on {0}, and {0} for one behind "
        "the "
        "other stream's last work{1}",
        callers, gives_stream ? "" : "; a stream of cudaStreamCreate does both by itself");
  }
  return story;
}

}  // namespace rooflab
