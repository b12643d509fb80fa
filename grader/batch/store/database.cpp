#include "grader/batch/store/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <utility>

namespace rooflab {
namespace {

constexpr int kPatienceMs = 30'000;  // for somebody who looks at the database meanwhile

/// Says more than SQLite where the system did: a journal that cannot be made is "unable to open
/// database file" on a full disk too.
bool is_full(sqlite3* database, int code) {
  const bool tells_more = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
  const int system = tells_more ? sqlite3_system_errno(database) : 0;
  return code == SQLITE_FULL || system == ENOSPC || system == EDQUOT;
}

const char* remedy_of(sqlite3* database, int code) {
  if (is_full(database, code)) {
    return "free some space and run the same command again: nothing that was graded is lost";
  }
  switch (code) {
    case SQLITE_IOERR:
      return "check the disk and run the same command again: nothing that was graded is lost";
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return "check that the folder of --out may be written to, check the disk, and run the same "
             "command again";
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return "the file is damaged or none of ours; name another folder with --out";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "another program holds the database; close it and run the same command again";
    default:
      return "nothing is lost; mend that and run the same command again";
  }
}

DatabaseError error_of(sqlite3* database) {
  if (database == nullptr) return DatabaseError("the batch's database: out of memory; free some");
  const int code = sqlite3_errcode(database) & 0xFF;  // without what only SQLite's authors ask
  return DatabaseError(fmt::format("the batch's database: {}; {}", sqlite3_errmsg(database),
                                   remedy_of(database, code)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Database::Database(const std::filesystem::path& file) {
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  database_.reset(opened);
  if (code != SQLITE_OK) throw error_of(opened);
  sqlite3_busy_timeout(opened, kPatienceMs);
  // A rollback journal, not a write-ahead log: the database stays one file, and network file
  // systems can hold it.
  execute(
      "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; "
      // What is deleted is overwritten too: it may be about somebody who has to be forgotten.
      "PRAGMA secure_delete = ON");
}

void Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw error_of(database_.get());
  }
}

Statement::Statement(Database& database, std::string_view sql)
    : database_(database.database_.get()) {
  sqlite3_stmt* prepared = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &prepared, nullptr);
  statement_.reset(prepared);
  if (code != SQLITE_OK) fail();
}

void Statement::fail() const { throw error_of(database_); }

Statement& Statement::bind(std::string_view text) {
  if (sqlite3_bind_text64(statement_.get(), next_parameter_++, text.data(), text.size(),
                          SQLITE_TRANSIENT, SQLITE_UTF8) != SQLITE_OK) {
    fail();
  }
  return *this;
}

Statement& Statement::bind_bytes(std::string_view bytes) {
  // An empty view may point nowhere, which would bind NULL.
  const char* data = bytes.empty() ? "" : bytes.data();
  if (sqlite3_bind_blob64(statement_.get(), next_parameter_++, data, bytes.size(),
                          SQLITE_TRANSIENT) != SQLITE_OK) {
    fail();
  }
  return *this;
}

Statement& Statement::bind(std::int64_t number) {
  if (sqlite3_bind_int64(statement_.get(), next_parameter_++, number) != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind(double number) {
  if (sqlite3_bind_double(statement_.get(), next_parameter_++, number) != SQLITE_OK) fail();
  return *this;
}

Statement& Statement::bind_null() {
  if (sqlite3_bind_null(statement_.get(), next_parameter_++) != SQLITE_OK) fail();
  return *this;
}

bool Statement::step() {
  next_column_ = 0;
  const int code = sqlite3_step(statement_.get());
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  while (step()) {
  }
  sqlite3_reset(statement_.get());
  next_parameter_ = 1;
}

bool Statement::is_null() const {
  return sqlite3_column_type(statement_.get(), next_column_) == SQLITE_NULL;
}

std::string Statement::text() {
  const int column = next_column_++;
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr
             ? std::string()
             : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::int64_t Statement::integer() { return sqlite3_column_int64(statement_.get(), next_column_++); }
double Statement::real() { return sqlite3_column_double(statement_.get(), next_column_++); }

std::optional<std::int64_t> Statement::optional_integer() {
  if (!is_null()) return integer();
  ++next_column_;
  return std::nullopt;
}

std::optional<double> Statement::optional_real() {
  if (!is_null()) return real();
  ++next_column_;
  return std::nullopt;
}

Transaction::Transaction(Database& database) : database_(database) {
  database_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const DatabaseError&) {  // SQLite has already rolled back, as after a full disk
  }
}

ReadTransaction::ReadTransaction(Database& database) : database_(database) {
  database_.execute("BEGIN");
}

ReadTransaction::~ReadTransaction() {
  try {
    database_.execute("ROLLBACK");
  } catch (const DatabaseError&) {  // there was nothing to be kept
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace rooflab
