// SPDX-License-Identifier: Apache-2.0
// A small native service to profile in a container: `service serve` answers on a Unix socket with a
// hash of what it was sent and writes a log; `service ask N` sends N requests and checks the
// answers.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { kBytes = 4096, kRounds = 40 };
static const char* const kPlace = "/tmp/service.sock";
static const char* const kLog = "/tmp/service.log";

__attribute__((noinline)) uint64_t hash_payload(const unsigned char* data, size_t size) {
  uint64_t hash = 1469598103934665603u;
  for (int round = 0; round < kRounds; ++round)
    for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 1099511628211u;
  return hash;
}

__attribute__((noinline)) void write_log(FILE* log, uint64_t hash) {
  fprintf(log, "%016llx\n", (unsigned long long)hash);
  fflush(log);
}

static struct sockaddr_un place(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strncpy(address.sun_path, kPlace, sizeof address.sun_path - 1);
  return address;
}

__attribute__((noinline)) int handle_request(int client, FILE* log) {
  unsigned char data[kBytes];
  size_t have = 0;
  while (have < sizeof data) {
    const ssize_t got = read(client, data + have, sizeof data - have);
    if (got <= 0) return 0;
    have += (size_t)got;
  }
  const uint64_t hash = hash_payload(data, sizeof data);
  write_log(log, hash);
  return write(client, &hash, sizeof hash) == sizeof hash;
}

static int serve(void) {
  const struct sockaddr_un address = place();
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  FILE* log = fopen(kLog, "w");
  unlink(kPlace);
  if (!log || bind(listener, (const struct sockaddr*)&address, sizeof address) != 0 ||
      listen(listener, 16) != 0) {
    perror("service");
    return 1;
  }
  for (;;) {
    const int client = accept(listener, NULL, NULL);
    if (client < 0) return 1;
    while (handle_request(client, log)) {
    }
    close(client);
  }
}

static int ask(long requests) {
  const struct sockaddr_un address = place();
  int server = -1;
  for (int left = 500; left > 0; --left) {  // it may still be starting
    server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (connect(server, (const struct sockaddr*)&address, sizeof address) == 0) break;
    close(server);
    server = -1;
    usleep(10000);
  }
  unsigned char data[kBytes];
  for (long i = 0; i < requests; ++i) {
    uint64_t answer = 0;
    memset(data, (int)i, sizeof data);
    if (write(server, data, sizeof data) != sizeof data ||
        read(server, &answer, sizeof answer) != sizeof answer) {
      fprintf(stderr, "service: no answer to request %ld\n", i);
      return 1;
    }
    if (i == 0 && answer != hash_payload(data, sizeof data)) return 1;
  }
  printf("%ld requests answered\n", requests);
  return 0;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "ask") == 0) return ask(atol(argv[2]));
  return serve();
}
