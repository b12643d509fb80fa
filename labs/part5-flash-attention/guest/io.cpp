#include "io.h"

#include <stdexcept>

#include "grader/contract/guest_call.h"

namespace {

using rooflab::GuestCall;

AttentionSize size_of(const GuestCall& call) {
  return {.heads = call.integer("heads"),
          .length = call.integer("length"),
          .head_dim = call.integer("head_dim"),
          .bytes_per_element = call.integer("bytes_per_element"),
          .causal = call.integer("causal") != 0};
}

Form form_of(const GuestCall& call) {
  const std::string& form = call.text("form");
  if (form == "standard") return Form::standard;
  if (form == "flash") return Form::flash;
  throw std::invalid_argument("part.toml names no such form: " + form);
}

FlashTiles tiles_of(const GuestCall& call) {
  return {.query_rows = call.integer("query_rows"), .key_rows = call.integer("key_rows")};
}

void pass_on_query_rows(GuestCall& call) {
  const rooflab::Gpu gpu{.flops_per_second = call.real("flops_per_second"),
                         .bytes_per_second = call.real("bytes_per_second")};
  call.result("rows", smallest_compute_bound_query_rows(gpu, call.integer("bytes_per_element")));
}

}  // namespace

ROOFLAB_ENTRY(io) {
  const std::string& function = call.text("function");
  if (function == "smallest_compute_bound_query_rows") return pass_on_query_rows(call);
  const AttentionSize size = size_of(call);
  if (function == "attention_flops") {
    call.result("flops", attention_flops(size));
  } else if (function == "standard_traffic") {
    call.result("bytes", standard_traffic(size));
  } else if (function == "query_rows_that_fit") {
    call.result("query_rows",
                query_rows_that_fit(size, call.integer("key_rows"), call.integer("on_chip_bytes")));
  } else if (function == "flash_traffic") {
    call.result("bytes", flash_traffic(size, tiles_of(call)));
  } else if (function == "standard_memory") {
    call.result("memory", standard_memory(size));
  } else if (function == "flash_memory") {
    call.result("memory", flash_memory(size));
  } else if (function == "longest_sequence") {
    call.result("length", longest_sequence(size, form_of(call), call.integer("memory_bytes")));
  } else {
    throw std::invalid_argument("part.toml names no such function: " + function);
  }
}
