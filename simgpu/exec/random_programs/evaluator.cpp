#include "simgpu/exec/random_programs/program.h"

namespace simgpu::random_programs {
namespace {

/// One thread, on its own.
class Thread {
 public:
  explicit Thread(Registers& registers) : registers_(registers) {}

  void run(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) run(statement);
  }

 private:
  Bits value_of(const Operand& operand) {
    return operand.is_literal ? operand.literal : registers_[operand];
  }
  bool holds(const Statement& statement) {
    return (registers_[{'p', false, statement.guard, 0}] != 0) != statement.negated;
  }
  Bits& word(const Statement& statement) {
    return (statement.shared ? shared_ : global_)[statement.slot];
  }
  void run(const Statement& statement) {
    if (statement.is_guarded && !holds(statement)) return;
    switch (statement.kind) {
      case Statement::Kind::compute: {
        std::array<Bits, 3> sources{};
        for (std::size_t i = 0; i < statement.sources.size(); ++i) {
          sources[i] = value_of(statement.sources[i]);
        }
        registers_[statement.result] =
            statement.operation->value(sources[0], sources[1], sources[2]);
        break;
      }
      case Statement::Kind::load:
        registers_[statement.result] = word(statement);
        break;
      case Statement::Kind::store:
        word(statement) = value_of(statement.sources[0]);
        break;
      case Statement::Kind::branch:
        run(holds(statement) ? statement.body : statement.otherwise);
        break;
      case Statement::Kind::loop: {
        const Bits rounds =
            statement.rounds_vary ? (value_of(statement.sources[0]) & 3) + 1 : statement.rounds;
        for (Bits i = 0; i < rounds; ++i) run(statement.body);
        break;
      }
      case Statement::Kind::foreign:
        break;
    }
  }

  Registers& registers_;
  std::array<Bits, kSlots> shared_{}, global_{};
};

}  // namespace

unsigned number_of(Type type) {
  unsigned number = 0;
  while (kTypes[number] != type) ++number;
  return number;
}

Bits& Registers::operator[](const Operand& operand) {
  return of_type[number_of(operand.type)][operand.index];
}

void evaluate(const Program& program, Registers& registers) {
  Thread(registers).run(program.statements);
}

}  // namespace simgpu::random_programs
