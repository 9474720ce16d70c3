/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
 * Which file a call is about: numbers for files, and the name of each told once, when its number is
 * given out. */
#pragma once

enum {
  kPipeMagic = 0x50495045,
  kSocketMagic = 0x534F434B,
  kAnonymousMagic = 0x09041934,
};

/* Since Linux 6.2: what is read through it costs a load, and not a call. */
extern void* bpf_rdonly_cast(const void* from, __u32 type) __ksym __weak;
#define LOOK_AT(type, from) \
  ((type*)bpf_rdonly_cast((const void*)(from), bpf_core_type_id_kernel(type)))

/* What a name is made of. */
struct Named {
  struct WireFileKey key;
  struct dentry* dentry;
  struct vfsmount* mnt; /* 0: not known, the name is within its file system */
  uint32_t tail_bytes;  /* of the path in the scratch */
  uint32_t kind;
};

static __always_inline struct WireNameScratch* scratch_here(void) {
  uint32_t zero = 0;
  return bpf_map_lookup_elem(&name_scratch, &zero);
}

/* One step up; whether there is more. */
static __always_inline int climb(struct WireNameScratch* scratch, struct Named* named,
                                 const struct path* root) {
  struct dentry* dentry = named->dentry;
  if (!dentry || (dentry == root->dentry && named->mnt == root->mnt)) return 0;
  struct dentry* parent = BPF_CORE_READ(dentry, d_parent);
  struct vfsmount* mnt = named->mnt;
  if (dentry == parent || (mnt && dentry == BPF_CORE_READ(mnt, mnt_root))) {
    if (!mnt) return 0;
    struct mount* mount = (void*)mnt - bpf_core_field_offset(struct mount, mnt);
    struct mount* above = BPF_CORE_READ(mount, mnt_parent);
    if (above == mount) return 0;
    named->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
    named->mnt = (void*)above + bpf_core_field_offset(struct mount, mnt);
    return 1;
  }
  uint32_t at = scratch->head.part_bytes;
  if (at > kWireTextBytes - kWireNameBytes) {
    scratch->head.kind |= kNameCut;
    return 0;
  }
  const long bytes = bpf_probe_read_kernel_str(scratch->text + at, kWireNameBytes,
                                               BPF_CORE_READ(dentry, d_name.name));
  if (bytes <= 0 || bytes > kWireNameBytes) return 0;
  scratch->head.part_bytes = at + bytes;
  scratch->head.parts += 1;
  named->dentry = parent;
  return 1;
}

struct Climb {
  struct Named named;
  struct path root;
  uint32_t done;
};

static long climb_once(uint64_t step, struct Climb* climbing) {
  struct WireNameScratch* scratch = scratch_here();
  climbing->done = !scratch || !climb(scratch, &climbing->named, &climbing->root);
  return climbing->done;
}

static __always_inline void collect_parts(struct WireNameScratch* scratch,
                                          const struct Named* named) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct Climb climbing = {*named};
  climbing.root.mnt = BPF_CORE_READ(task, fs, root.mnt);
  climbing.root.dentry = BPF_CORE_READ(task, fs, root.dentry);
  bpf_loop(kWireMostParts, climb_once, &climbing, 0);
  if (!climbing.done) scratch->head.kind |= kNameCut;
}

/* 0: it could not be told, and the file has no number. */
__noinline int tell_name(struct Named* named, uint32_t file) {
  struct WireNameScratch* scratch = scratch_here();
  if (!scratch || !named) return 0;
  scratch->head.file = file;
  scratch->head.kind = named->kind;
  scratch->head.key = named->key;
  scratch->head.parts = 0;
  scratch->head.part_bytes = 0;
  if (named->kind == kNamePath || named->kind == kNameAnonymous) collect_parts(scratch, named);
  const uint32_t at = scratch->head.part_bytes;
  uint32_t tail = named->tail_bytes;
  if (at > kWireTextBytes) return 0;
  if (tail > kWirePathBytes) tail = kWirePathBytes;
  scratch->head.tail_bytes = tail;
  if (tail > 0) bpf_probe_read_kernel(scratch->text + at, tail, scratch->path);
  uint64_t size = sizeof(scratch->head) + at + tail;
  if (size > sizeof(scratch->head) + kWireTextBytes + kWirePathBytes) return 0;
  return bpf_ringbuf_output(&names, scratch, size, BPF_RB_NO_WAKEUP) == 0;
}

/* The number of a file that this task has not used lately. */
__noinline uint32_t number_of(struct Named* named) {
  if (!named) return 0;
  const struct WireFileKey key = named->key; /* older kernels look only at the stack */
  uint32_t* known = bpf_map_lookup_elem(&known_files, &key);
  if (known) return *known;
  const uint32_t file = __sync_fetch_and_add(&counts.next_file, 1) + 1;
  if (!tell_name(named, file)) {
    __sync_fetch_and_add(&counts.dropped_names, 1);
    return 0;
  }
  /* Another CPU may tell it at the same time: then it has two numbers. */
  bpf_map_update_elem(&known_files, &key, &file, BPF_ANY);
  return file;
}

static __always_inline struct WireKnownFile* place_of(struct WireTaskCalls* calls,
                                                      const struct WireFileKey* key) {
  return &calls->files[(key->inode ^ key->device) & (kWireKnownFiles - 1)];
}

static __always_inline int is_key(const struct WireKnownFile* known,
                                  const struct WireFileKey* key) {
  return known->key.inode == key->inode && known->key.device == key->device &&
         known->key.generation == key->generation && known->file != 0;
}

static __always_inline uint32_t remember(struct WireKnownFile* place, struct Named* named) {
  const uint32_t file = number_of(named);
  place->key = named->key;
  place->file = file;
  return file;
}

static __always_inline struct file* file_at(struct task_struct* task, int32_t fd) {
  struct files_struct* files = task->files;
  if (!files) return 0;
  struct fdtable* table = files->fdt;
  if (fd < 0 || (uint32_t)fd >= table->max_fds) return 0;
  struct file** first = table->fd;
  /* Any type that begins with a pointer will do. */
  if (bpf_rdonly_cast) return (struct file*)LOOK_AT(struct hlist_head, first + fd)->first;
  struct file* file = 0;
  bpf_probe_read_kernel(&file, sizeof(file), first + fd);
  return file;
}

static __noinline uint32_t kind_of(struct inode* inode) {
  const unsigned long magic = BPF_CORE_READ(inode, i_sb, s_magic);
  if (magic == kPipeMagic) return kNamePipe;
  if (magic == kSocketMagic) return kNameSocket;
  return magic == kAnonymousMagic ? kNameAnonymous : kNamePath;
}

static __always_inline struct inode* inode_of(struct file* file) {
  return bpf_rdonly_cast ? LOOK_AT(struct file, file)->f_inode : BPF_CORE_READ(file, f_inode);
}

static __always_inline int64_t position_of(struct file* file) {
  return bpf_rdonly_cast ? LOOK_AT(struct file, file)->f_pos : BPF_CORE_READ(file, f_pos);
}

static __always_inline void key_of_inode(struct inode* inode, struct WireFileKey* key) {
  if (bpf_rdonly_cast) {
    const struct inode* seen = LOOK_AT(struct inode, inode);
    key->inode = seen->i_ino;
    key->generation = seen->i_generation;
    key->device = seen->i_sb->s_dev;
    return;
  }
  key->inode = BPF_CORE_READ(inode, i_ino);
  key->device = BPF_CORE_READ(inode, i_sb, s_dev);
  key->generation = BPF_CORE_READ(inode, i_generation);
}

static __always_inline void key_of_file(struct file* file, struct inode* inode,
                                        struct WireFileKey* key) {
  key_of_inode(inode, key);
  /* All of them share an inode: what they can do tells them apart. */
  if (key->device == anonymous_device) key->generation = (uint64_t)BPF_CORE_READ(file, f_op) >> 3;
}

static __always_inline void describe(struct file* file, struct inode* inode, struct Named* named) {
  named->kind = kind_of(inode);
  named->dentry = BPF_CORE_READ(file, f_path.dentry);
  named->mnt = BPF_CORE_READ(file, f_path.mnt);
}

static __always_inline uint32_t number_of_file(struct WireTaskCalls* calls, struct file* file) {
  struct Named named = {};
  struct inode* inode = inode_of(file);
  key_of_file(file, inode, &named.key);
  struct WireKnownFile* place = place_of(calls, &named.key);
  if (is_key(place, &named.key)) return place->file;
  describe(file, inode, &named);
  return remember(place, &named);
}

/* The same for a task that keeps none. */
static __always_inline uint32_t number_of_any_file(struct file* file) {
  struct Named named = {};
  struct inode* inode = inode_of(file);
  key_of_file(file, inode, &named.key);
  describe(file, inode, &named);
  return number_of(&named);
}

/* Of a path that was given to a call: the hash of its text. */
struct Hashing {
  uint64_t hash;
  uint32_t bytes;
};

static long hash_word(uint64_t word, struct Hashing* hashing) {
  struct WireNameScratch* scratch = scratch_here();
  if (!scratch || word * 8 >= hashing->bytes) return 1;
  const uint64_t text = *(const uint64_t*)(scratch->path + (word * 8 & (kWirePathBytes - 8)));
  hashing->hash = (hashing->hash ^ text) * 0x9e3779b97f4a7c15UL;
  hashing->hash ^= hashing->hash >> 29;
  return 0;
}

static __always_inline uint64_t hash_path(uint32_t bytes) {
  struct Hashing hashing = {bytes, bytes};
  bpf_loop(kWirePathBytes / 8, hash_word, &hashing, 0);
  return hashing.hash;
}

__noinline uint32_t number_of_path(struct WireTaskCalls* calls, uint64_t path, int32_t at_fd) {
  if (!calls) return 0;
  struct WireNameScratch* scratch = scratch_here();
  if (!scratch) return 0;
  calls->looking = 1;
  const long read = bpf_probe_read_user_str(scratch->path, kWirePathBytes, (const void*)path);
  calls->looking = 0;
  if (read <= 1 || read > kWirePathBytes) return 0;
  const uint32_t bytes = (uint32_t)read - 1;
  *(uint64_t*)(scratch->path + (bytes & (kWirePathBytes - 1))) = 0;
  struct Named named = {};
  named.tail_bytes = bytes;
  if (scratch->path[0] != '/') {
    struct task_struct* task = bpf_get_current_task_btf();
    struct file* at = at_fd >= 0 ? file_at(task, at_fd) : 0;
    named.dentry = at ? BPF_CORE_READ(at, f_path.dentry) : BPF_CORE_READ(task, fs, pwd.dentry);
    named.mnt = at ? BPF_CORE_READ(at, f_path.mnt) : BPF_CORE_READ(task, fs, pwd.mnt);
  }
  named.key.inode = hash_path(bytes);
  named.key.device = kWirePathDevice;
  struct dentry* folder = named.dentry;
  if (folder) named.key.generation = BPF_CORE_READ(folder, d_inode, i_ino);
  struct WireKnownFile* place = place_of(calls, &named.key);
  if (is_key(place, &named.key)) return place->file;
  return remember(place, &named);
}

/* By inode alone: where nobody opened it by name, its name is that within its file system. */
static __always_inline int name_inode(struct inode* inode, struct Named* named) {
  struct hlist_node* alias = BPF_CORE_READ(inode, i_dentry.first);
  if (!alias) return 0;
  named->dentry = (void*)alias - bpf_core_field_offset(struct dentry, d_u.d_alias);
  return 1;
}

static __always_inline uint32_t number_of_inode(struct WireTaskCalls* calls, struct inode* inode) {
  if (!with_files || !inode) return 0;
  struct Named named = {};
  key_of_inode(inode, &named.key);
  struct WireKnownFile* place = place_of(calls, &named.key);
  if (is_key(place, &named.key)) return place->file;
  if (!name_inode(inode, &named)) return 0;
  return remember(place, &named);
}
