make -j2 · run of 2.0 s
  I/O       1.3 s in calls · 0.66 of 2 threads at a time
  Moved     1.1 MB read · 66 kB written · 4 files
  Calls     10 calls · 1 failed
  Seen      values of layer c · 1 process, 2 threads · 3 calls dropped
  Note      3 calls were lost: the spool was full; 1 static program is not
            covered: busybox

Functions of layer c, C library, by self time
  function  kind    calls  errors   bytes    mean     time     self      rate
  read      read        1       0  1.0 MB  1.0 MB    1.0 s    1.0 s  1.0 MB/s
  fsync     sync        1       0                   300 ms   300 ms
  sendfile  copy        1       0   66 kB   66 kB  20.0 ms  20.0 ms  3.3 MB/s
  fread     read        3       0  8.2 kB  2.7 kB   5.1 µs   5.1 µs  1.6 GB/s
  fopen     open        1       0                   4.0 µs   3.5 µs
  munmap    map         1       0  4.1 kB  4.1 kB   3.0 µs   3.0 µs
  fclose    close       1       0                   900 ns   900 ns
  open      open        1       1                   700 ns   700 ns
  malloc    memory      1       0   552 B   552 B   500 ns   500 ns

  function      p50      p95      p99      max  256 ns … 1.1 s
  read        1.0 s    1.0 s    1.0 s    1.0 s                       █
  fsync      300 ms   300 ms   300 ms   300 ms                      █
  sendfile  20.0 ms  20.0 ms  20.0 ms  20.0 ms                  █
  fread      1.5 µs   2.5 µs   2.5 µs   2.5 µs    █▄
  fopen      4.0 µs   4.0 µs   4.0 µs   4.0 µs     █
  munmap     3.0 µs   3.0 µs   3.0 µs   3.0 µs     █
  fclose     900 ns   900 ns   900 ns   900 ns   █
  open       700 ns   700 ns   700 ns   700 ns   █
  malloc     500 ns   500 ns   500 ns   500 ns  █

Files by bytes moved
  file           opens  reads    read  writes  written    time
  socket:[99]        0      1  1.0 MB       0            1.0 s
  /data/out          0      0   66 kB       0    66 kB  320 ms
  /data/in           1      3  8.2 kB       0           9.5 µs
  /data/missing      1      0               0           700 ns

Bandwidth, a bar is 50.0 ms
  read     537 kB/s mean · 1.3 MB/s peak at 1.5 s
  ▂ ▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇        █
  written  33 kB/s mean · 1.3 MB/s peak at 1.5 s
                                █
  0 s                                2.0 s

Threads by time in I/O
  thread  tid  calls    read  written     time   share
  worker    8      4  1.1 MB    66 kB    1.3 s   100 %
  copier    7      6  8.2 kB           10.2 µs  <0.1 %
