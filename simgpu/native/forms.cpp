#include "simgpu/native/forms.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace simgpu::native {
namespace {

/// Handlers are made known while opcode tables are built and kernels lowered, in any thread.
class FormTable {
 public:
  static FormTable& instance() {
    static FormTable table;
    return table;
  }
  void add(Handler handler, const Form& form) {
    const std::lock_guard lock(mutex_);
    forms_.try_emplace(handler, form);
  }
  std::optional<Form> find(Handler handler) const {
    const std::lock_guard lock(mutex_);
    const auto found = forms_.find(handler);
    if (found == forms_.end()) return std::nullopt;
    return found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Handler, Form> forms_;
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Functions that a compiler makes no vectors of, because they call others that are not inline.
/// Interpreted, they take as long.
bool is_out_of_line(std::string_view function) {
  constexpr std::array<std::string_view, 12> kOutOfLine{
      "Round::zero", "Round::down",    "Round::up",      "(simgpu::arith::Round)",
      "ex2_approx",  "lg2_approx",     "sin_approx",     "cos_approx",
      "tanh_approx", "round_integral", "narrow_to_half", "narrow_to_packed"};
  // These round in every mode by instructions of the host.
  constexpr std::array<std::string_view, 6> kInline{"::from_float", "::add_f32<", "::sub_f32<",
                                                    "::mul_f32<",   "::fma_f32<", "::f64_to_f32<"};
  const auto has = [&](std::string_view part) { return contains(function, part); };
  return std::ranges::none_of(kInline, has) && std::ranges::any_of(kOutOfLine, has);
}

/// What a handler's signature calls its result, as Form has it.
char result_kind(char letter) {
  if (letter == 'p') return 'p';
  return letter == 'd' || letter == 'l' ? 'd' : 'w';
}

/// Keeps what can be computed natively, and returns the handler.
Handler add_form(Handler handler, const Form& form) {
  const bool is_access =
      form.kind == Form::Kind::shared_load || form.kind == Form::Kind::shared_store;
  if (handler != nullptr && (is_access || !form.function.empty())) {
    FormTable::instance().add(handler, form);
  }
  return handler;
}

}  // namespace

std::string function_in(std::string_view spelling) {
  constexpr std::string_view kStart = "F = ";
  const std::size_t start = spelling.find(kStart);
  if (start == std::string_view::npos) return {};
  std::string_view name = spelling.substr(start + kStart.size());
  if (name.starts_with('&')) name.remove_prefix(1);
  name = name.substr(0, name.find_first_of(";]"));
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:<>, ()";
  if (!name.starts_with("simgpu::arith::") ||
      name.find_first_not_of(kAllowed) != std::string_view::npos || is_out_of_line(name)) {
    return {};
  }
  return std::string(name);
}

Handler known_lanes(Handler handler, std::string_view signature, std::string_view spelling) {
  return add_form(handler, {.kind = Form::Kind::lanes,
                            .function = function_in(spelling),
                            .operands = static_cast<unsigned>(signature.size() - 2),
                            .result = result_kind(signature.front())});
}

Handler known_compare(Handler handler, std::string_view spelling) {
  return add_form(handler,
                  {.kind = Form::Kind::compare, .function = function_in(spelling), .operands = 2});
}

Handler known_masks(Handler handler, unsigned operands, std::string_view spelling) {
  return add_form(
      handler,
      {.kind = Form::Kind::masks, .function = function_in(spelling), .operands = operands});
}

Handler known_shared(Handler handler, AccessKind kind, unsigned bytes, unsigned elements) {
  const bool loads = kind == AccessKind::load;
  return add_form(handler, {.kind = loads ? Form::Kind::shared_load : Form::Kind::shared_store,
                            .function = {},
                            .bytes = bytes,
                            .elements = elements});
}

std::optional<Form> find_form(Handler handler) { return FormTable::instance().find(handler); }

}  // namespace simgpu::native
