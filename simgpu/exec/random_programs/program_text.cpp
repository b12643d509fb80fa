#include <cstdio>

#include "simgpu/exec/random_programs/program.h"

/// A program in PTX.
namespace simgpu::random_programs {
namespace {

std::string name_of(const Operand& operand) {
  if (!operand.is_literal)
    return '%' + std::string(1, operand.type) + std::to_string(operand.index);
  std::array<char, 32> text{};
  const auto bits = static_cast<unsigned long long>(operand.literal);
  const char* const format = operand.type == 'f'   ? "0f%08llX"
                             : operand.type == 'g' ? "0d%016llX"
                                                   : "0x%llX";
  std::snprintf(text.data(), text.size(), format, bits);
  return text.data();
}

/// PTX type and bytes of a register.
std::string moved_as(Type type) {
  switch (type) {
    case 'd':
      return "u64";
    case 'f':
      return "f32";
    case 'g':
      return "f64";
    default:
      return "u32";
  }
}

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program) {}

  std::string text() {
    text_ = ".visible .entry " + program_.name +
            "(.param .u64 in, .param .u64 out, .param .u64 scratch)\n{\n"
            "  .shared .align 4 .b8 own[2048];\n  .shared .align 4 .b8 common[512];\n";
    declare();
    begin();
    write(program_.statements, 0);
    end();
    return text_ + "  ret;\n}\n";
  }

 private:
  void line(const std::string& instruction) { text_ += "  " + instruction + "\n"; }

  void declare() {
    const std::string count = "<" + std::to_string(kRegisters) + ">;";
    line(".reg .b32 %r" + count + " .reg .b64 %d" + count + " .reg .f32 %f" + count);
    line(".reg .f64 %g" + count + " .reg .pred %p" + count);
    line(".reg .b32 %round<4>, %rounds<4>, %word, %number, %any_shared, %own, %common;");
    line(".reg .b64 %in, %out, %scratch, %any_global, %mine, %at; .reg .pred %again;");
  }

  template <class Each>
  void for_each_register(const Each& each) {
    unsigned place = 0;
    for (const Type type : kTypes) {
      for (unsigned i = 0; i < kRegisters; ++i) each(type, i, 8 * place++);
    }
  }

  void begin() {
    line("ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %scratch, [scratch];");
    line("mov.u32 %number, %tid.x; mov.u32 %word, %ctaid.x; mov.u32 %own, %ntid.x;");
    line("mad.lo.u32 %word, %word, %own, %number;");
    const std::string bytes = std::to_string(8 * kTypes.size() * kRegisters);
    line("mul.wide.u32 %at, %word, " + bytes + "; add.u64 %in, %in, %at; add.u64 %out, %out, %at;");
    line("mul.wide.u32 %mine, %word, " + std::to_string(4 * kSlots) +
         "; add.u64 %mine, %mine, %scratch;");
    line("mov.u32 %own, own; mad.lo.u32 %own, %number, " + std::to_string(4 * kSlots) + ", %own;");
    line("mov.u32 %common, common; mov.u32 %word, 0;");
    // Own words behind those that all use.
    for (unsigned i = 0; i < kSlots; ++i) {
      line("st.shared.u32 [%own+" + std::to_string(4 * i) + "], %word;");
      line("st.global.u32 [%mine+" + std::to_string(512 + 4 * i) + "], %word;");
    }
    line("and.b32 %any_shared, %number, 31; shl.b32 %any_shared, %any_shared, 2;");
    line("add.u32 %any_shared, %any_shared, %common;");
    for (unsigned i = 0; i < 4; ++i) {
      line("st.shared.u32 [%any_shared+" + std::to_string(128 * i) + "], %word;");
    }
    line("bar.sync 0;");
    for_each_register([&](Type type, unsigned i, unsigned place) {
      const std::string at = "[%in+" + std::to_string(place) + "];";
      if (type == 'p') {
        line("ld.global.u32 %word, " + at);
        line("setp.ne.u32 " + name_of({type, false, i, 0}) + ", %word, 0;");
      } else {
        line("ld.global." + moved_as(type) + ' ' + name_of({type, false, i, 0}) + ", " + at);
      }
    });
  }

  void end() {
    for_each_register([&](Type type, unsigned i, unsigned place) {
      std::string name = name_of({type, false, i, 0});
      if (type == 'p') {
        line("selp.u32 %word, 1, 0, " + name + ";");
        name = "%word";
      }
      line("st.global." + moved_as(type) + " [%out+" + std::to_string(place) + "], " + name + ";");
    });
  }

  static std::string guard(const Statement& statement) {
    return std::string(statement.negated ? "@!%p" : "@%p") + std::to_string(statement.guard) + ' ';
  }
  std::string label() { return "$" + program_.name + "_" + std::to_string(labels_++); }

  void write(const std::vector<Statement>& statements, unsigned depth) {
    for (const Statement& statement : statements) write(statement, depth);
  }

  void write(const Statement& statement, unsigned depth) {
    const std::string when = statement.is_guarded ? guard(statement) : "";
    const std::string at = (statement.shared ? "[%own+" : "[%mine+") +
                           std::to_string((statement.shared ? 0 : 512) + 4 * statement.slot) + "]";
    const std::string space = statement.shared ? ".shared.u32 " : ".global.u32 ";
    switch (statement.kind) {
      case Statement::Kind::compute: {
        std::string instruction =
            when + statement.operation->spelling + ' ' + name_of(statement.result);
        for (const Operand& source : statement.sources) instruction += ", " + name_of(source);
        line(instruction + ";");
        break;
      }
      case Statement::Kind::load:
        line(when + "ld" + space + name_of(statement.result) + ", " + at + ";");
        break;
      case Statement::Kind::store:
        line(when + "st" + space + at + ", " + name_of(statement.sources[0]) + ";");
        break;
      case Statement::Kind::branch:
        write_branch(statement, depth);
        break;
      case Statement::Kind::loop:
        write_loop(statement, depth);
        break;
      case Statement::Kind::foreign:
        write_foreign(statement, when);
        break;
    }
  }

  void write_branch(const Statement& statement, unsigned depth) {
    const std::string then = label(), end = label();
    line(guard(statement) + "bra " + then + ";");
    write(statement.otherwise, depth + 1);
    line("bra " + end + ";");
    line(then + ":");
    write(statement.body, depth + 1);
    line(end + ":");
  }

  void write_loop(const Statement& statement, unsigned depth) {
    const std::string again = label(), number = std::to_string(depth);
    line("mov.u32 %round" + number + ", 0;");
    if (statement.rounds_vary) {
      line("and.b32 %rounds" + number + ", " + name_of(statement.sources[0]) + ", 3;");
      line("add.u32 %rounds" + number + ", %rounds" + number + ", 1;");
    } else {
      line("mov.u32 %rounds" + number + ", " + std::to_string(statement.rounds) + ";");
    }
    line(again + ":");
    write(statement.body, depth + 1);
    line("add.u32 %round" + number + ", %round" + number + ", 1;");
    line("setp.lt.u32 %again, %round" + number + ", %rounds" + number + ";");
    line("@%again bra " + again + ";");
  }

  void write_foreign(const Statement& statement, const std::string& when) {
    std::string text = statement.text;
    if (const std::size_t at = text.find("@ "); at != std::string::npos) text.replace(at, 2, when);
    line(text);
  }

  const Program& program_;
  std::string text_;
  unsigned labels_ = 0;
};

}  // namespace

std::string module_header() { return ".version 9.0\n.target sm_90\n.address_size 64\n"; }

std::string text_of(const Program& program) { return Writer(program).text(); }

}  // namespace simgpu::random_programs
