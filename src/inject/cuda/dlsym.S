/* SPDX-License-Identifier: Apache-2.0
 * dlsym looks at who calls it: names that are not the driver's go on to the real one as if we were
 * not here. */
#ifdef __x86_64__
        .text
        .globl  dlsym
        .type   dlsym, @function
dlsym:
        .cfi_startproc
        endbr64
        testq   %rsi, %rsi
        jz      1f
        cmpb    $'c', (%rsi)
        jne     1f
        cmpb    $'u', 1(%rsi)
        jne     1f
        movzbl  2(%rsi), %eax
        subl    $'A', %eax
        cmpl    $25, %eax
        ja      1f
        jmp     fathom_driver_dlsym
1:      movq    fathom_real_dlsym(%rip), %rax
        testq   %rax, %rax
        jz      2f
        jmp     *%rax
2:      pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    fathom_find_dlsym
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   dlsym, .-dlsym
        .hidden fathom_driver_dlsym
        .hidden fathom_find_dlsym
        .hidden fathom_real_dlsym
#endif
        .section .note.GNU-stack, "", @progbits
