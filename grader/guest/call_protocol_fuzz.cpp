// libFuzzer's entry to what the trusted side reads of a guest: any line is a reply within the
// limits, which is written and read the same again, or none. The bytes are read as a line, and make
// one.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "grader/guest/call_protocol.h"
#include "simgpu/fuzzing/grammar/json_text.h"

namespace {

using rooflab::Reply;

constexpr std::array<std::string_view, 8> kKeys = {"status",     "detail", "cuda_error", "results",
                                                   "elapsed_us", "a",      "text",       "status"};

void require(bool holds) {
  if (!holds) std::abort();
}

void read(const std::string& line) {
  const auto reply = rooflab::decode_reply(line);
  if (!reply) return;
  require(reply->detail.size() <= 8192 && reply->cuda_error.size() <= 8192 &&
          reply->results.size() <= 1000);
  for (const auto& [name, value] : reply->results) {
    const auto* text = std::get_if<std::string>(&value);
    require(name.size() <= 8192 && (text == nullptr || text->size() <= rooflab::kMaxResultBytes));
  }
  const std::string written = rooflab::encode(*reply);
  const auto again = rooflab::decode_reply(written);
  require(again && rooflab::encode(*again) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(std::string(bytes));
  simgpu::fuzzing::Choices choices(bytes);
  simgpu::fuzzing::JsonText json(choices, kKeys);
  read(json.object());
  Reply right;
  right.detail = "not yet";
  right.thrown = {"gemv.cu", 3, "the grid"};
  right.results = {{"macs", std::int64_t{7}}, {"text", std::string("x")}, {"us", 1.5}};
  read(json.changed(rooflab::encode(right)));
  return 0;
}
