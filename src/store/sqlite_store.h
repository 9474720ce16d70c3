// SPDX-License-Identifier: Apache-2.0
// The store in one SQLite file (docs/formats/hub.md). One connection writes, under a lock; readers
// have one of their own and never wait for it (write-ahead log). A commit is on disk when it
// returns.
#pragma once

#include "store/store.h"

namespace fathom {

// "sqlite:FILE". The file is made, or brought to the present version in place.
Result<std::unique_ptr<Store>> open_sqlite_store(const std::string& address);

}  // namespace fathom
