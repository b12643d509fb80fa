#pragma once

#include "grader/batch/store/database.h"

namespace rooflab {

/// Brings a database to the newest schema, step by step and all at once: a new one from nothing, an
/// older one with its contents kept. docs/design/batch.md describes the tables.
/// @throws DatabaseError for a database of a newer grader
void migrate(Database& database);

/// The newest schema there is: how many steps there are.
int newest_schema();

/// migrate() up to a step only; what an older grader would have left.
void migrate_to(Database& database, int schema);

}  // namespace rooflab
