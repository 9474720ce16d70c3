/* SPDX-License-Identifier: Apache-2.0
 * vfork returns twice, so nothing of ours may stand between the caller and the real one. */
#ifdef __x86_64__
        .text
        .globl  vfork
        .type   vfork, @function
vfork:
        .cfi_startproc
        endbr64
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    fathom_before_vfork
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   vfork, .-vfork
#endif
        .section .note.GNU-stack, "", @progbits
