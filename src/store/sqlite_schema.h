// SPDX-License-Identifier: Apache-2.0
// The tables of the SQLite store, and how a file of an older version becomes one of this.
#pragma once

#include "store/sqlite.h"

namespace fathom {

// Sets the connection up. The version stands in PRAGMA user_version; kUnsupported if it is newer.
Status prepare_sqlite(Sqlite& sqlite);

}  // namespace fathom
