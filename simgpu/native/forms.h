#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simgpu/checkers/access.h"
#include "simgpu/lower/lowered.h"

/// What the translator to native code knows of the interpreter's handlers. A handler is made known
/// where its opcode is defined, by the function of simgpu/arith that it calls: native code calls
/// the same. What nobody made known is interpreted.
namespace simgpu::native {

struct Form {
  enum class Kind : std::uint8_t {
    lanes,    ///< dst = function(a, b, c, d) in each lane
    compare,  ///< dst (and dst2) = function(a, b), joined with c as `option` says
    masks,    ///< predicate dst = function(a, b), all lanes at once
    shared_load,
    shared_store,
  };
  Kind kind = Kind::lanes;
  std::string function;  ///< as C++ spells it: "simgpu::arith::add<int>"
  unsigned operands = 0;
  char result = 'w';  ///< of Kind::lanes: w 32-bit values, d 64-bit ones, p a predicate
  unsigned bytes = 0, elements = 0;  ///< of a memory access, per lane
};

/// nullopt for a handler that nobody made known.
std::optional<Form> find_form(Handler handler);

namespace detail {

Handler add_form(Handler handler, const Form& form);
/// The function's name in `pretty`, what __PRETTY_FUNCTION__ says in a template of it; empty when
/// it is none of simgpu/arith that a vector of lanes can be computed with.
std::string function_in(std::string_view pretty);

template <auto F>
std::string spelling() {
  return function_in(__PRETTY_FUNCTION__);
}

}  // namespace detail

/// What a handler's signature calls its result, as Form has it.
constexpr char result_kind(char letter) {
  if (letter == 'p') return 'p';
  return letter == 'd' || letter == 'l' ? 'd' : 'w';
}

// Each returns the handler.

template <auto F>
Handler known_lanes(Handler handler, std::string_view signature) {
  return detail::add_form(handler, {.kind = Form::Kind::lanes,
                                    .function = detail::spelling<F>(),
                                    .operands = static_cast<unsigned>(signature.size() - 2),
                                    .result = result_kind(signature.front())});
}

template <auto F>
Handler known_compare(Handler handler) {
  return detail::add_form(
      handler, {.kind = Form::Kind::compare, .function = detail::spelling<F>(), .operands = 2});
}

template <auto F>
Handler known_masks(Handler handler, unsigned operands) {
  return detail::add_form(
      handler,
      {.kind = Form::Kind::masks, .function = detail::spelling<F>(), .operands = operands});
}

inline Handler known_shared(Handler handler, AccessKind kind, unsigned bytes, unsigned elements) {
  const bool loads = kind == AccessKind::load;
  return detail::add_form(handler,
                          {.kind = loads ? Form::Kind::shared_load : Form::Kind::shared_store,
                           .function = {},
                           .bytes = bytes,
                           .elements = elements});
}

}  // namespace simgpu::native
