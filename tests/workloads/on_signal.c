/* SPDX-License-Identifier: Apache-2.0
 * on_signal FOLDER: works before anybody can attach to it (31 writes of 977 bytes, 0.3 s of CPU
 * time, 64 MiB touched and given back), makes FOLDER/ready and waits. Each is a folder made when it
 * is done: SIGUSR1  23 writes of 4,099 bytes, 18 by the first thread and 5 by a second one, and 0.2
 * s of CPU time; FOLDER/wrote SIGUSR2  a child that writes 7 times 1,009 bytes and exits with 5,
 * waited for; FOLDER/forked SIGTERM  exits with 3 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int wanted, done;
static int file;

static void write_times(int times, size_t bytes) {
  char* buffer = calloc(1, bytes);
  for (int i = 0; i < times; ++i) {
    if (write(file, buffer, bytes) != (ssize_t)bytes) _exit(99);
  }
  free(buffer);
}

static int64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void burn(int64_t ns) {
  volatile uint64_t state = 1;
  for (const int64_t end = cpu_ns() + ns; cpu_ns() < end;) {
    for (int i = 0; i < 10000; ++i) state = state * 6364136223846793005u + 1;
  }
}

static void touch_memory(void) {
  const size_t bytes = 64 << 20;
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) _exit(98);
  memset(memory, 1, bytes);
  munmap(memory, bytes);
}

static void* second_thread(void* unused) {
  pthread_mutex_lock(&lock);
  for (;;) {
    while (done == wanted) pthread_cond_wait(&changed, &lock);
    write_times(5, 4099);
    ++done;
    pthread_cond_broadcast(&changed);
  }
  return unused;
}

static void work(void) {
  burn(200 * 1000000);
  write_times(18, 4099);
  pthread_mutex_lock(&lock);
  ++wanted;
  pthread_cond_broadcast(&changed);
  while (done != wanted) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

static void start_child(void) {
  const pid_t child = fork();
  if (child == 0) {
    write_times(7, 1009);
    _exit(5);
  }
  waitpid(child, NULL, 0);
}

static void say(const char* folder, const char* word) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, word);
  mkdir(path, 0777);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  write_times(31, 977);
  burn(300 * 1000000);
  touch_memory();
  pthread_t second;
  pthread_create(&second, NULL, second_thread, NULL);
  say(argv[1], "ready");
  for (;;) {
    int number = 0;
    sigwait(&signals, &number);
    if (number == SIGTERM) return 3;
    if (number == SIGUSR1) work();
    if (number == SIGUSR2) start_child();
    say(argv[1], number == SIGUSR1 ? "wrote" : "forked");
  }
}
