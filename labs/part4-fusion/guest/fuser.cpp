#include "fuser.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "grader/contract/guest_call.h"
#include "guest_support/stream.h"

namespace {

using rooflab::GuestCall;

struct NamedOp {
  const char* name;
  Op op;
  int operands;
};

constexpr NamedOp kOps[] = {
    {"add", Op::add, 2},      {"sub", Op::sub, 2},   {"mul", Op::mul, 2},   {"div", Op::div, 2},
    {"min", Op::min, 2},      {"max", Op::max, 2},   {"neg", Op::neg, 1},   {"abs", Op::abs, 1},
    {"exp", Op::exp, 1},      {"tanh", Op::tanh, 1}, {"sqrt", Op::sqrt, 1}, {"rsqrt", Op::rsqrt, 1},
    {"select", Op::select, 3}};

/// Reads postfix notation: "x0 x1 add 0.5 mul" is (x0 + x1) * 0.5, and `dup` is the value before it
/// once more.
class Parser {
 public:
  Expression parse(const std::string& text) {
    std::istringstream words(text);
    for (std::string word; words >> word;) read(word);
    return expression_;
  }

 private:
  void read(const std::string& word) {
    if (word == "dup") return stack_.push_back(stack_.back());
    for (const NamedOp& named : kOps) {
      if (word == named.name) return apply(named);
    }
    Node node;
    if (word.front() == 'x') {
      node.op = Op::input;
      node.input = std::stoi(word.substr(1));
    } else {
      node.constant = std::strtof(word.c_str(), nullptr);
    }
    push(node);
  }

  void apply(const NamedOp& named) {
    Node node;
    node.op = named.op;
    int* const places[] = {&node.a, &node.b, &node.c};
    for (int i = named.operands; i-- > 0;) {
      *places[i] = stack_.back();
      stack_.pop_back();
    }
    push(node);
  }

  void push(const Node& node) {
    stack_.push_back(static_cast<int>(expression_.nodes.size()));
    expression_.nodes.push_back(node);
  }

  Expression expression_;
  std::vector<int> stack_;
};

std::vector<const void*> inputs_of(const GuestCall& call, const std::string& suffix) {
  std::vector<const void*> inputs;
  for (std::int64_t i = 0; i < call.integer("inputs"); ++i) {
    inputs.push_back(call.tensor<const void>("x" + std::to_string(i) + suffix));
  }
  return inputs;
}

Storage storage_of(const std::string& type) {
  return type == "half" ? Storage::float16 : Storage::float32;
}

/// The expressions that come before the case's own, of one cache, each with an output of its own.
/// Where they are stored in another type, their inputs have names of their own, too.
void evaluate_others(KernelCache& cache, const GuestCall& call) {
  const bool has_other_type = call.text("before_type") != call.text("type");
  const auto inputs = inputs_of(call, has_other_type ? " before" : "");
  std::istringstream lines(call.text("before"));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    evaluate(cache, Parser().parse(line), storage_of(call.text("before_type")), inputs,
             call.tensor<void>("out before " + std::to_string(++number)), call.integer("count"),
             rooflab::stream_of(call));
  }
}

}  // namespace

ROOFLAB_ENTRY(fuser) {
  auto& cache = call.kept<KernelCache>("kernels");
  evaluate_others(cache, call);
  const Expression expression = Parser().parse(call.text("expression"));
  for (std::int64_t i = 0; i < call.integer("calls"); ++i) {
    evaluate(cache, expression, storage_of(call.text("type")), inputs_of(call, ""),
             call.tensor<void>("out"), call.integer("count"), rooflab::stream_of(call));
  }
}
