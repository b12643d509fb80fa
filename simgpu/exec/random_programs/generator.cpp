#include <algorithm>
#include <limits>
#include <random>

#include "simgpu/exec/random_programs/program.h"

namespace simgpu::random_programs {
namespace {

constexpr unsigned kDeepest = 3;

class Generator {
 public:
  Generator(std::uint64_t seed, const std::string& name) : random_(seed) {
    program_.name = name;
    program_.threads = std::array{32U, 64U, 96U, 50U}[below(4)];
    program_.blocks = 1 + below(4);
    program_.touches_others = below(3) == 0;
  }

  Program make() {
    for (unsigned part = 0; part < 3; ++part) {
      add_statements(program_.statements, 8, 0);
      if (program_.touches_others) add_meeting(program_.statements);
    }
    return std::move(program_);
  }

 private:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_() % bound); }

  Bits literal(Type type) {
    const Bits word = random_();
    if (type == 'f')
      return below(2) == 0 ? std::array{0x3f800000U, 0x80000000U, 0x7f800000U, 1U}[below(4)]
                           : 0x3f000000U + (word & 0x1ffffffU);
    if (type == 'g') return 0x3fe0000000000000U + (word >> 10);
    const Bits integer = below(2) == 0 ? below(40) : word;
    return type == 'r' ? integer & 0xFFFFFFFFU : integer;
  }
  Operand operand(Type type) {
    if (type != 'p' && below(4) == 0) return {type, true, 0, literal(type)};
    return {type, false, below(kRegisters), 0};
  }
  Operand result(Type type) { return {type, false, below(kRegisters), 0}; }

  void add_guard(Statement& statement) {
    if (below(5) != 0) return;
    statement.is_guarded = true;
    statement.negated = below(2) == 0;
    statement.guard = below(kRegisters);
  }

  void add_computation(std::vector<Statement>& list) {
    Statement statement;
    statement.operation = &operations()[below(static_cast<unsigned>(operations().size()))];
    statement.result = result(statement.operation->result);
    for (const Type type : statement.operation->sources) {
      statement.sources.push_back(operand(type));
    }
    add_guard(statement);
    list.push_back(std::move(statement));
  }
  void add_access(std::vector<Statement>& list) {
    Statement statement;
    statement.kind = below(2) == 0 ? Statement::Kind::load : Statement::Kind::store;
    statement.shared = below(2) == 0;
    statement.slot = below(kSlots);
    if (statement.kind == Statement::Kind::load) {
      statement.result = result('r');
    } else {
      statement.sources = {{'r', false, below(kRegisters), 0}};
    }
    add_guard(statement);
    list.push_back(std::move(statement));
  }
  void add_branch(std::vector<Statement>& list, unsigned depth) {
    Statement statement;
    statement.kind = Statement::Kind::branch;
    statement.guard = below(kRegisters);
    statement.negated = below(2) == 0;
    add_statements(statement.body, 5, depth + 1);
    if (below(2) == 0) add_statements(statement.otherwise, 5, depth + 1);
    list.push_back(std::move(statement));
  }
  void add_loop(std::vector<Statement>& list, unsigned depth) {
    Statement statement;
    statement.kind = Statement::Kind::loop;
    statement.rounds = 1 + below(4);
    statement.rounds_vary = below(2) == 0;
    statement.sources = {{'r', false, below(kRegisters), 0}};
    add_statements(statement.body, 6, depth + 1);
    list.push_back(std::move(statement));
  }
  std::string reg() { return "%r" + std::to_string(below(kRegisters)); }

  /// A word that other threads use too.
  void add_foreign(std::vector<Statement>& list) {
    Statement statement;
    statement.kind = Statement::Kind::foreign;
    add_guard(statement);
    static const std::array<std::string, 7> kTexts{
        "ld.shared.u32 $a, [%any_shared];",           "st.shared.u32 [%any_shared], $a;",
        "ld.global.u32 $a, [%any_global];",           "st.global.u32 [%any_global], $a;",
        "atom.global.add.u32 $a, [%any_global], $b;", "red.global.max.u32 [%any_global], $b;",
        "atom.shared.xor.b32 $a, [%any_shared], $b;"};
    std::string text = kTexts[below(kTexts.size())];
    text.replace(text.find('$'), 2, reg());
    if (const std::size_t at = text.find('$'); at != std::string::npos) text.replace(at, 2, reg());
    // Where: behind a register's low bits.
    statement.text = "and.b32 %any_shared, " + reg() +
                     ", 508;\n  cvt.u64.u32 %any_global, %any_shared;\n"
                     "  add.u64 %any_global, %any_global, %scratch;\n"
                     "  add.u32 %any_shared, %any_shared, %common;\n  @ " +
                     text;
    list.push_back(std::move(statement));
  }
  /// What all threads of a block have to reach.
  void add_meeting(std::vector<Statement>& list) {
    Statement statement;
    statement.kind = Statement::Kind::foreign;
    const bool whole_warps = program_.threads % 32 == 0;
    switch (below(whole_warps ? 3 : 1)) {
      case 0:
        statement.text = "bar.sync 0;";
        break;
      case 1:
        statement.text = "shfl.sync.bfly.b32 " + reg() + ", " + reg() + ", " +
                         std::to_string(1 + below(31)) + ", 31, -1;";
        break;
      default:
        statement.text =
            "vote.sync.ballot.b32 " + reg() + ", %p" + std::to_string(below(kRegisters)) + ", -1;";
    }
    list.push_back(std::move(statement));
  }

  void add_statements(std::vector<Statement>& list, unsigned most, unsigned depth) {
    const unsigned count = most / 2 + below(most / 2 + 1);
    for (unsigned i = 0; i < count; ++i) {
      const unsigned choice = below(20);
      if (choice < 13 || depth >= kDeepest) {
        add_computation(list);
      } else if (choice < 16) {
        add_access(list);
      } else if (choice < 17 && program_.touches_others) {
        add_foreign(list);
      } else if (choice < 19) {
        add_branch(list, depth);
      } else {
        add_loop(list, depth);
      }
    }
  }

  std::mt19937_64 random_;
  Program program_;
};

}  // namespace

Program random_program(std::uint64_t seed, const std::string& name) {
  return Generator(seed, name).make();
}

}  // namespace simgpu::random_programs
