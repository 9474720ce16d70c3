/* SPDX-License-Identifier: Apache-2.0
 * syscall(2) may return twice or on another stack, as after clone, so nothing of ours may stand
 * between the caller and the real one; except where the call is seccomp or prctl (sandbox.c). */
#ifdef __x86_64__
        .text
        .globl  syscall
        .type   syscall, @function
syscall:
        .cfi_startproc
        endbr64
        cmpq    $157, %rdi              /* SYS_prctl */
        je      fathom_sandboxing_call
        cmpq    $317, %rdi              /* SYS_seccomp */
        je      fathom_sandboxing_call
        movq    fathom_real_syscall(%rip), %rax
        testq   %rax, %rax
        je      1f
        jmp     *%rax
1:      pushq   %rdi
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
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    start_guarded
        addq    $8, %rsp
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
        jmp     *fathom_real_syscall(%rip)
        .cfi_endproc
        .size   syscall, .-syscall
#endif
        .section .note.GNU-stack, "", @progbits
