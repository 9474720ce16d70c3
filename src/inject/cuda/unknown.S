/* SPDX-License-Identifier: Apache-2.0
 * Stands before functions of the driver of which nothing is known but a name: each of these says
 * which one it is, has it counted, and goes on to it. Every register that may hold an argument and
 * the stack are then as the caller left them. */
#ifdef __x86_64__
        .text
        .hidden fathom_unknown_entries
        .globl  fathom_unknown_entries
        .type   fathom_unknown_entries, @function
        .hidden fathom_count_unknown
        .balign 16
fathom_unknown_entries:
        .cfi_startproc
        .set    number, 0
        .rept   512                             /* kMostUnknown, 16 bytes each */
        .balign 16
        endbr64
        movl    $number, %r11d
        jmp     count
        .set    number, number + 1
        .endr
        .cfi_endproc
        .size   fathom_unknown_entries, .-fathom_unknown_entries

        .balign 16
        .type   count, @function
count:
        .cfi_startproc
        pushq   %rax
        .cfi_adjust_cfa_offset 8
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        pushq   %rcx
        .cfi_adjust_cfa_offset 8
        pushq   %r8
        .cfi_adjust_cfa_offset 8
        pushq   %r9
        .cfi_adjust_cfa_offset 8
        pushq   %r10
        .cfi_adjust_cfa_offset 8
        subq    $136, %rsp
        .cfi_adjust_cfa_offset 136
        movups  %xmm0, (%rsp)
        movups  %xmm1, 16(%rsp)
        movups  %xmm2, 32(%rsp)
        movups  %xmm3, 48(%rsp)
        movups  %xmm4, 64(%rsp)
        movups  %xmm5, 80(%rsp)
        movups  %xmm6, 96(%rsp)
        movups  %xmm7, 112(%rsp)
        movl    %r11d, %edi
        call    fathom_count_unknown
        movq    %rax, %r11
        movups  (%rsp), %xmm0
        movups  16(%rsp), %xmm1
        movups  32(%rsp), %xmm2
        movups  48(%rsp), %xmm3
        movups  64(%rsp), %xmm4
        movups  80(%rsp), %xmm5
        movups  96(%rsp), %xmm6
        movups  112(%rsp), %xmm7
        addq    $136, %rsp
        .cfi_adjust_cfa_offset -136
        popq    %r10
        .cfi_adjust_cfa_offset -8
        popq    %r9
        .cfi_adjust_cfa_offset -8
        popq    %r8
        .cfi_adjust_cfa_offset -8
        popq    %rcx
        .cfi_adjust_cfa_offset -8
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        popq    %rax
        .cfi_adjust_cfa_offset -8
        jmp     *%r11
        .cfi_endproc
        .size   count, .-count
#endif
        .section .note.GNU-stack, "", @progbits
