// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace fathom {
namespace {

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ESRCH:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermission;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Code::kNoSpace;
    case EEXIST:
    case ENOTEMPTY:
      return Code::kExists;
    case EINVAL:
      return Code::kInvalid;
    case ENOSYS:
    case EOPNOTSUPP:
      return Code::kUnsupported;
    default:
      return Code::kIo;
  }
}

}  // namespace

Error errno_error(std::string_view doing, int error_number) {
  return Error{code_of(error_number),
               std::string(doing) + ": " + std::generic_category().message(error_number)};
}

Error errno_error(std::string_view doing) { return errno_error(doing, errno); }

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "fathom: a bug: %s does not hold at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace fathom
