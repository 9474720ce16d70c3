/* SPDX-License-Identifier: Apache-2.0
 * vfork returns twice, so nothing may stand between the caller and the real one. This only notes
 * that this thread's memory will be a child's for a while (struct Thread: epoch, vforked). */
#include "inject/core/offsets.h"

#ifdef __x86_64__
        .text
        .globl  vfork
        .type   vfork, @function
vfork:
        .cfi_startproc
        endbr64
        movq    fathom_real_vfork@GOTPCREL(%rip), %rax
        cmpq    $0, (%rax)
        jne     1f
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        call    fathom_start_for_vfork
        popq    %rax
        .cfi_adjust_cfa_offset -8
1:      movq    fathom_thread@gottpoff(%rip), %rdx
        movq    $-1, %fs:FATHOM_EPOCH(%rdx)
        movl    $1, %fs:FATHOM_VFORKED(%rdx)
        jmp     *(%rax)
        .cfi_endproc
        .size   vfork, .-vfork
#endif
        .section .note.GNU-stack, "", @progbits
