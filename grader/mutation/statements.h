#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "grader/mutation/bounds.h"
#include "grader/mutation/code_tokens.h"
#include "grader/mutation/edits.h"
#include "grader/mutation/expressions.h"
#include "grader/mutation/mutants.h"
#include "grader/mutation/scopes.h"

namespace rooflab::mutation {

/// Walks through the functions of a file, statement by statement, and changes what they do.
class StatementMutator {
 public:
  StatementMutator(const Code& code, const std::vector<std::uint32_t>& skip);

  MutableSource run();

 private:
  /// What one statement is, for its neighbours.
  struct Statement {
    std::size_t first = 0, behind = 0;  ///< tokens
    bool may_move = false;              ///< it declares nothing and goes nowhere
  };

  void top_level(std::size_t first, std::size_t last);
  std::optional<std::size_t> body_of_function(std::size_t open) const;
  void function(std::size_t parameters, std::size_t body);
  void declare_parameters(std::size_t open);

  void block(std::size_t open);
  /// Bodies of lambdas that see the function's variables.
  void lambdas(std::size_t first, std::size_t last);
  Statement statement(std::size_t first, std::size_t last);
  Statement statement_at(std::size_t first, std::size_t last);
  std::size_t branch(std::size_t first, std::size_t last);
  void bound_declared(std::size_t first, std::size_t end);
  std::size_t loop(std::size_t first, std::size_t last);
  void loop_header(std::size_t open);
  void reset_in_turns(std::size_t keyword, std::size_t body);
  static std::string initial_value(const Code& code, std::size_t first, std::size_t last,
                                   const std::string& type);
  bool declaration(std::size_t first, std::size_t end);
  void declarators(std::size_t name, std::size_t end, const std::string& type, bool is_constant);
  bool initialiser(std::size_t first, std::size_t last, bool is_constant);
  void value(std::size_t first, std::size_t last);
  Statement expression(std::size_t first, std::size_t end);
  void update(std::size_t first, std::size_t end);
  void exchange_neighbours(const std::vector<Statement>& statements);

  std::size_t end_of_statement(std::size_t first, std::size_t last) const;
  bool is_left_alone(std::size_t first, std::size_t end) const;

  const Code& code_;
  const std::vector<std::uint32_t>& skip_;
  Edits edits_;
  MutantList mutants_;
  Scopes scopes_;
  const TypeNames types_;
  std::size_t depth_ = 0;  ///< of statements in each other
  ExpressionMutator expressions_;
  BoundMutator bounds_;
  bool is_kernel_ = false;                                  ///< the function
  std::vector<std::pair<std::size_t, std::string>> moved_;  ///< what goes before a token
};

}  // namespace rooflab::mutation
