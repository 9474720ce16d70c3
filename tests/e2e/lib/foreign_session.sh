# SPDX-License-Identifier: Apache-2.0
# foreign_session.sh FOLDER: what programs that nobody here wrote make of their I/O, with checksums.
# Prints only what must be the same every time, whether a library stands before libc or not.
set -u
mkdir -p "$1" && cd "$1" || exit 1
export HOME=$PWD LC_ALL=C TZ=UTC GIT_CONFIG_NOSYSTEM=1
export GIT_AUTHOR_DATE='2001-02-03T04:05:06Z' GIT_COMMITTER_DATE='2001-02-03T04:05:06Z'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
sum() { sha256sum | cut -c1-16; }

coreutils() {
  seq 1 20000 | sort -R --random-source=/bin/sh >random
  sort -n random | sum
  sort -u --parallel=2 -S 100k random | sum
  split -b 4099 random part- && cat part-* | cmp - random && ls part-* | wc -l
  tee copy <random | wc -c
  cp --sparse=always random sparse && cmp random sparse && echo same
  dd if=random of=dd bs=511 count=23 conv=fsync 2>/dev/null; sum <dd
  mkdir -p deep/er && mv copy deep/er/ && ln -s er/copy deep/link && readlink deep/link
  cat deep/missing; echo "cat says $?"
  truncate -s 12345 cut && stat -c %s cut
  tac random | tail -n 3 | od -An -c | head -2
  comm -12 <(sort random) <(sort dd) | wc -l
  timeout 1 cat /dev/zero | head -c 100000 | sum
}

archives() {
  mkdir -p tree/a tree/b && seq 1 3000 >tree/a/x && seq 5 9000 >tree/b/y && ln tree/a/x tree/b/hard
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf t.tar tree && sum <t.tar
  mkdir -p out && tar -C out -xf t.tar && diff -r tree out/tree && echo equal
  gzip -9n <t.tar >t.gz && gzip -dc t.gz | cmp - t.tar && sum <t.gz
  xz -T2 <t.tar | xz -dc | cmp - t.tar && echo xz
}

version_control() {
  git init -q -b main repo && cd repo || return
  for i in 1 2 3; do seq "$i" 500 >"file$i" && git add . && git commit -qm "commit $i"; done
  git rev-parse HEAD && git gc -q && git fsck --strict 2>&1 | sum
  git clone -q . ../clone && git -C ../clone log --format=%T | sum
  git -C ../clone grep -c 77 | sort && git diff HEAD~2 --stat | sum
  cd ..
}

database() {
  sqlite3 db <<'SQL'
pragma journal_mode=wal;
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000) insert into t select i, hex(i * 7919) from n;
create index ib on t(b);
delete from t where a % 3 = 0;
vacuum;
pragma integrity_check;
select count(*), sum(a), max(b) from t;
SQL
  sqlite3 db .dump | sum
}

languages() {
  perl -e 'open F, ">", "p" or die; print F "x" x 4099; close F; print -s "p", "\n"; print `echo child`; exit 3'; echo "perl $?"
  python3 -c '
import os, subprocess, tempfile, threading
open("q", "w").write("y" * 4099)
print(os.path.getsize("q"), subprocess.check_output(["echo", "child"]))
r, w = os.pipe()
t = threading.Thread(target=lambda: os.write(w, b"z" * 77))
t.start(); t.join(); print(len(os.read(r, 1000)))
try: open("/nonexistent/x")
except OSError as error: print(error.errno)
pid = os.fork()
if pid == 0: os._exit(5)
print(os.waitpid(pid, 0)[1])
'
  printf 'public class Hi { public static void main(String[] a) throws Exception { java.nio.file.Files.writeString(java.nio.file.Path.of("j"), "v".repeat(4099)); System.out.println(new java.io.File("j").length()); System.exit(7); } }\n' >Hi.java
  java -Xshare:auto Hi.java; echo "java $?"
  printf '#include <stdio.h>\nint main(void) { puts("compiled"); return 9; }\n' >c.c
  gcc -O2 -o c c.c && ./c; echo "c $?"
}

for part in coreutils archives version_control database languages; do
  echo "== $part"
  (mkdir -p "$part" && cd "$part" && $part) 2>&1
done
