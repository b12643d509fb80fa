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

Piece piece_of(const simgpu::Finding& finding) {
  const std::string& action = finding.where.action;
  if (!finding.kernel.empty()) {
    return {fmt::format("`{}` is launched", kernel_of(finding)), "",
            "pass `stream` as the fourth launch argument: kernel<<<grid, block, 0, stream>>>(...)"};
  }
  if (action.starts_with("cublas")) {
    return {"a product of cuBLAS runs", "cublas",
            "call cublasSetStream(handle, stream) before the product, or pass `stream` to "
            "rooflab::linear: a handle stays on the stream that it was set to last"};
  }
  if (action.starts_with("a memset")) {
    return {"a memset is issued", "cudaMemset",
            "use cudaMemsetAsync and pass `stream` as its last argument"};
  }
  if (action.starts_with("cudaFreeAsync")) {
    return {"memory is freed", "cudaFreeAsync", "pass `stream` to cudaFreeAsync"};
  }
  return {"a copy is issued", "cudaMemcpy",
          "use cudaMemcpyAsync and pass `stream` as its last argument; a copy to the host sees "
          "nothing that is still on its way on `stream`"};
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
                                     const DiagnoseContext& context) {
  std::string kernel = kernel_of(finding);
  kernel.erase(0, kernel.rfind(':') == std::string::npos ? 0 : kernel.rfind(':') + 1);
  const bool on_default = says(finding.where.action, "the default stream");
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

/// "x" of "byte 0 of the 64-byte allocation (x)"; empty when it has no name.
std::string tensor_in(const std::string& object) {
  const std::size_t open = object.rfind('(');
  const std::size_t close = object.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return object.substr(open + 1, close - open - 1);
}

}  // namespace

Diagnostic explain_off_the_stream(const simgpu::Finding& finding, const DiagnoseContext& context) {
  Diagnostic story = begin_story(finding.code, context);
  const Piece work = piece_of(finding);
  const bool on_default = says(finding.where.action, "the default stream");
  const bool starts_early = says(finding.message, "are still being made");
  const bool gives_stream = says(finding.message, "the stream that the function is given");
  const char* callers = gives_stream ? "`stream`" : "the default stream";
  const std::string tensor = tensor_in(finding.object);
  const std::string memory = tensor.empty() ? "its memory" : fmt::format("`{}`", tensor);
  story.message =
      fmt::format("{} on {}, and not on {}: nothing makes {}", work.name,
                  on_default ? "the default stream" : "another stream", callers,
                  starts_early ? fmt::format("it wait for what comes before it there, and it uses "
                                             "{} too early",
                                             memory)
                               : fmt::format("{} wait for it, and what comes behind the "
                                             "function may use {} too early",
                                             callers, memory));
  const auto place = place_in_source(finding, work, context);
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
      const bool writes = says(finding.where.action, " writes it");
      story.labels.push_back(label_at(finding.where.file, finding.where.line, finding.where.column,
                                      writes ? "writes it here" : "reads it here", context));
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
