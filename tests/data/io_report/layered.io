make -j2 · run of 2.0 s
  I/O       7.0 ms in calls · 0.4 % of the run
  Moved     0 B read · 12 kB written · 1 file
  Calls     4 calls · none failed
  Seen      values of layer sys · also recorded: c, vfs, ext4, block
            1 process, 1 thread · nothing dropped

Functions of layer c, C library, by self time, system calls included
  function  kind   calls  errors   bytes    mean    time      rate
  write     write      2       0  8.2 kB  4.1 kB  5.0 ms  1.6 MB/s

  function       p50       p95       p99       max  2.1 ms … 4.2 ms
  write     ≤ 4.2 ms  ≤ 4.2 ms  ≤ 4.2 ms  ≤ 4.2 ms  █
  ≤: counted by powers of two; it took no longer

Functions of layer sys, system calls, by self time
  function  kind   calls  errors  bytes    mean    time    self      rate
  write     write      3       0  12 kB  4.1 kB  7.0 ms  3.1 ms  1.8 MB/s
  getpid    other      1       0                 100 ns  100 ns

  function       p50       p95       p99       max  64 ns … 4.2 ms
  write     ≤ 2.1 ms  ≤ 3.0 ms  ≤ 3.0 ms  ≤ 3.0 ms                █▄
  getpid      100 ns    100 ns    100 ns    100 ns  █
  ≤: counted by powers of two; it took no longer

Functions of layer vfs, virtual file system, by self time
  function   kind   calls  errors   bytes    mean    time    self      rate
  vfs_write  write      2          8.2 kB  4.1 kB  3.9 ms  900 µs  2.1 MB/s

Functions of layer ext4, by self time
  function              calls  errors   bytes    mean    time    self      rate
  ext4_file_write_iter      2          8.2 kB  4.1 kB  3.0 ms  3.0 ms  2.7 MB/s
  a wider terminal also shows: kind

Functions of layer block, block devices, by self time
  function        kind   calls  errors   bytes    mean    time    self
  block_rq_issue  other      1          8.2 kB  8.2 kB  2.0 ms  2.0 ms

Files by bytes moved
  file    opens  reads  read  writes  written    time
  /tmp/x      0      0             3    12 kB  7.0 ms

Bandwidth, a bar is 1.0 s
  read     nothing
  written  6.1 kB/s mean · 8.2 kB/s peak at 0 s
  █▄
  0 s 2.0 s
