#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace rooflab {

/// The database failed: what it says, and what to do.
class DatabaseError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Database;

/// One SQL statement, prepared. Bind its parameters in order, then step through its rows, reading
/// the columns in order.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);

  Statement& bind(std::string_view text);
  Statement& bind(const char* text) { return bind(std::string_view(text)); }
  Statement& bind(std::int64_t number);
  Statement& bind(int number) { return bind(std::int64_t{number}); }
  Statement& bind(bool truth) { return bind(std::int64_t{truth}); }
  Statement& bind(double number);
  Statement& bind_bytes(std::string_view bytes);
  Statement& bind_null();
  template <typename T>
  Statement& bind(const std::optional<T>& value) {
    return value ? bind(*value) : bind_null();
  }

  /// Goes to the next row; false when there is none.
  bool step();
  /// Steps to the end and makes ready for other parameters.
  void run();

  std::string text();
  std::int64_t integer();
  double real();
  bool truth() { return integer() != 0; }
  std::optional<std::int64_t> optional_integer();
  std::optional<double> optional_real();

 private:
  [[noreturn]] void fail() const;
  bool is_null() const;

  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_parameter_ = 1;
  int next_column_ = 0;
};

/// A database in one file. It survives the death of its process at any moment: what a transaction
/// has not finished is as if it had not begun.
class Database {
 public:
  /// Opens, or makes, the file. @throws DatabaseError
  explicit Database(const std::filesystem::path& file);

  /// Runs statements without parameters.
  void execute(const std::string& sql);

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, Close> database_;
};

/// Everything between its making and commit() happens, or nothing of it.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

/// Everything that is read while it lives is of one moment; it is quicker too, since the file is
/// locked once and not for every statement. Nothing can be written meanwhile.
class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database);
  ~ReadTransaction();
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  Database& database_;
};

}  // namespace rooflab
