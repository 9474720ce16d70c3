make -j2 · run of 2.0 s
  I/O       300 ms in calls · 0.15 of 2 threads at a time
            500 ms more waiting (poll)
  Moved     203 kB read · 134 kB written · 5 files
  Calls     91 calls · 1 failed
  Seen      values of layer c · 2 processes, 2 threads · nothing dropped

Functions of layer c, C library, by self time
  function   kind   calls  errors   bytes    mean     time     self      rate
  poll       wait       1       0                   500 ms   500 ms
  write      write      7       0  134 kB   19 kB   210 ms   210 ms  638 kB/s
  read       read      36       0  203 kB  5.6 kB  89.6 ms  89.6 ms  2.3 MB/s
  __xstat64  meta      41       0                  82.0 µs  82.0 µs
  openat     open       4       1                  30.0 µs  30.0 µs
  close      close      2       0                   400 ns   400 ns

  function         p50        p95        p99        max  128 ns … 537 ms
  poll        ≤ 500 ms   ≤ 500 ms   ≤ 500 ms   ≤ 500 ms                       █
  write      ≤ 33.6 ms  ≤ 67.1 ms  ≤ 67.1 ms  ≤ 67.1 ms            ▂      █▄
  read       ≤ 32.8 µs  ≤ 16.8 ms  ≤ 16.8 ms  ≤ 16.8 ms        ▅█        ▄
  __xstat64   ≤ 2.0 µs   ≤ 2.0 µs   ≤ 2.0 µs   ≤ 2.0 µs     █
  openat      ≤ 8.2 µs   ≤ 9.0 µs   ≤ 9.0 µs   ≤ 9.0 µs       █▃
  close       ≤ 255 ns   ≤ 255 ns   ≤ 255 ns   ≤ 255 ns  █
  ≤: counted by powers of two; it took no longer

Files by bytes moved
  file         opens  reads    read  writes  written    time
  pipe:[4711]      0      6  101 kB       6   101 kB  290 ms
  /src/a.c         3     23   94 kB       0           563 µs
  /out/x.tgz       0      0               1    33 kB  150 µs
  /src/b.c         0      7  7.1 kB       0           9.1 ms
  /src/gone.c      1      0               0           9.0 µs

Bandwidth, a bar is 1.0 s
  read     101 kB/s mean · 160 kB/s peak at 0 s
  █▃
  written  67 kB/s mean · 69 kB/s peak at 1.0 s
  ██
  0 s 2.0 s

Processes by time in I/O
  process  pid  calls    read  written     time  share  threads
  tar       10     81  101 kB   101 kB   220 ms   73 %        1
  gzip      11     10  101 kB    33 kB  80.2 ms   27 %        1
