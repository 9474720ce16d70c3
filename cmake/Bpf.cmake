# SPDX-License-Identifier: Apache-2.0
# NAME.bpf.c becomes gen/NAME.skel.h, which holds the compiled BPF program for libbpf to load. Where
# NAME_loader.c stands beside it, that becomes part of the layer and gets a light skeleton instead,
# gen/NAME.lskel.h: C only, and the kernel finds its own fields, so that nobody reads its type
# information in user space (5 MB, 15 ms).

find_program(BPF_CLANG NAMES clang clang-14)
find_program(BPFTOOL bpftool HINTS /usr/sbin /sbin /usr/local/sbin)

set(FATHOM_GEN ${CMAKE_BINARY_DIR}/gen)
set(FATHOM_BPF_OBJECTS ${CMAKE_BINARY_DIR}/bpf)
file(MAKE_DIRECTORY ${FATHOM_GEN} ${FATHOM_BPF_OBJECTS})

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(bpf_arch x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(bpf_arch arm64)
else()
  set(bpf_arch ${CMAKE_SYSTEM_PROCESSOR})
endif()

# fathom_add_bpf(TARGET SOURCE): TARGET waits for the skeleton of SOURCE.
function(fathom_add_bpf target source)
  if(NOT BPF_CLANG OR NOT BPFTOOL)
    message(FATAL_ERROR "clang or bpftool is missing: run tools/setup build")
  endif()
  get_filename_component(name ${source} NAME)
  string(REGEX REPLACE "\\.bpf\\.c$" "" name ${name})
  get_property(owner GLOBAL PROPERTY fathom_bpf_${name})
  if(owner)
    message(FATAL_ERROR "${owner} and ${source} would both become ${name}.skel.h")
  endif()
  set_property(GLOBAL PROPERTY fathom_bpf_${name} ${source})

  set(compiled ${FATHOM_BPF_OBJECTS}/${name}.tmp.o)
  set(object ${FATHOM_BPF_OBJECTS}/${name}.bpf.o)
  get_filename_component(folder ${source} DIRECTORY)
  set(loader ${folder}/${name}_loader.c)
  set(skeleton ${FATHOM_GEN}/${name}.skel.h)
  set(kind "")
  if(EXISTS ${loader})
    set(skeleton ${FATHOM_GEN}/${name}.lskel.h)
    set(kind -L)
    target_sources(${target} PRIVATE ${loader})
  endif()
  add_custom_command(
    OUTPUT ${compiled}
    COMMAND ${BPF_CLANG} -target bpf -mcpu=v3 -ffreestanding -O2 -g -D__TARGET_ARCH_${bpf_arch} -Wall
            -I${CMAKE_SOURCE_DIR}/src -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
            -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
            -MD -MF ${compiled}.d -MT ${compiled} -c ${source} -o ${compiled}
    DEPENDS ${source}
    DEPFILE ${compiled}.d
    COMMENT "BPF ${name}"
    VERBATIM)
  # "gen object" drops the DWARF and keeps the BTF.
  add_custom_command(
    OUTPUT ${skeleton}
    BYPRODUCTS ${object}
    COMMAND ${BPFTOOL} gen object ${object} ${compiled}
    COMMAND sh -c "\"$0\" $4 gen skeleton \"$1\" name \"$2\" >\"$3.new\" && mv \"$3.new\" \"$3\""
            ${BPFTOOL} ${object} ${name}_bpf ${skeleton} ${kind}
    DEPENDS ${compiled}
    COMMENT "BPF skeleton ${name}"
    VERBATIM)
  target_sources(${target} PRIVATE ${skeleton})
endfunction()
