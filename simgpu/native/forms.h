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

/// A text that holds the name of a function: what the functions below read it from.
template <auto F>
constexpr std::string_view spelling() {
  return __PRETTY_FUNCTION__;
}

/// The function's name in its spelling; empty when it is none of simgpu/arith that a vector of
/// lanes can be computed with.
std::string function_in(std::string_view spelling);

// Each makes a handler known, by the function that it calls in each lane if function_in() has its
// name, and returns the handler.

/// @param signature the handler's, as Implementation has it
Handler known_lanes(Handler handler, std::string_view signature, std::string_view spelling);
Handler known_compare(Handler handler, std::string_view spelling);
Handler known_masks(Handler handler, unsigned operands, std::string_view spelling);
Handler known_shared(Handler handler, AccessKind kind, unsigned bytes, unsigned elements);

}  // namespace simgpu::native
