// SPDX-License-Identifier: Apache-2.0
// What kind of call a function is, told by its name: the one table of functions that I/O reports
// and their sums of bytes read and written rest on. Pure functions: any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace fathom {

enum class IoClass {
  kRead,      // its bytes were read, from files, sockets and queues alike
  kWrite,     // its bytes were written
  kCopy,      // sendfile, splice and such: its bytes were read and written, once each
  kOpen,      // makes a descriptor or stream
  kClose,     //
  kMetadata,  // names, attributes, folders, locks, options: no content
  kSeek,      //
  kSync,      // content on its way to storage: fsync, fflush
  kFlush,     // pages that a layer writes back: its bytes were counted as they were written to it
  kWait,      // for somebody else: poll, wait4. No I/O of its own
  kMap,       // mmap and such; its bytes are a length, not moved
  kMemory,    // malloc and such: no I/O at all; its bytes are a size
  kProcess,   // fork, exec, exit: no I/O
  kOther,
};

std::string_view io_class_name(IoClass io_class);

// Of a function of a layer. Functions of libc and system calls are told by exact name, whatever
// their 64-bit, checking or unlocked form; those of other layers by a word within it.
IoClass io_class(std::string_view layer, std::string_view name);

// SQL that defines the macro io_class(layer, name) with the same result, for queries.
std::string io_class_sql();

// Events that were counted, and are no calls.
bool is_event_layer(std::string_view layer);
// Calls of that layer are I/O: everything that is no event, accelerator or runtime.
bool is_io_layer(std::string_view layer);
// How far a layer is from the program: 0 is nearest.
size_t layer_depth(std::string_view layer);
// "C library"; nothing for what explains itself.
std::string_view layer_title(std::string_view layer);

inline bool is_read(IoClass io_class) {
  return io_class == IoClass::kRead || io_class == IoClass::kCopy;
}
inline bool is_written(IoClass io_class) {
  return io_class == IoClass::kWrite || io_class == IoClass::kCopy;
}
// Its time is time of I/O.
inline bool is_io(IoClass io_class) {
  return io_class != IoClass::kWait && io_class != IoClass::kMemory &&
         io_class != IoClass::kProcess;
}

}  // namespace fathom
