// SPDX-License-Identifier: Apache-2.0
// Ids that programs in a pid namespace of their own know themselves by, as ids of this machine.
// Whoever learns of one tells it here, for all probes of a run. Belongs to the recorder's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace fathom {

class InnerIds {
 public:
  using Key = std::pair<uint64_t, int64_t>;  // inode of the namespace, id there

  // An id may come again: then it is the newer one's.
  void add_process(const Key& inside, int64_t pid) { processes_.add(inside, pid); }
  void add_thread(const Key& inside, int64_t tid) { threads_.add(inside, tid); }
  [[nodiscard]] std::optional<int64_t> process(const Key& inside) const {
    return processes_.find(inside);
  }
  [[nodiscard]] std::optional<int64_t> thread(const Key& inside) const {
    return threads_.find(inside);
  }

  // How to learn of all tasks that have begun by now; nullptr: nobody can tell.
  void learn_by(std::function<void()> learn) { learn_ = std::move(learn); }
  void learn() const {
    if (learn_) learn_();
  }

 private:
  // The newest of them: a long run starts processes without end.
  class Newest {
   public:
    void add(const Key& inside, int64_t id);
    [[nodiscard]] std::optional<int64_t> find(const Key& inside) const;

   private:
    static constexpr size_t kMost = 131'072;
    struct Known {
      int64_t id = 0, turn = 0;
    };
    std::map<Key, Known> ids_;
    std::deque<std::pair<Key, int64_t>> added_;  // and in which turn
    int64_t turns_ = 0;
  };
  Newest processes_, threads_;
  std::function<void()> learn_;
};

}  // namespace fathom
