/* boot.S: what a multiboot loader (QEMU's -kernel) jumps to: sets segments and a stack, then calls guest_main(magic, information). */
.set MAGIC, 0x1BADB002
.set FLAGS, 3 /* modules on page boundaries, memory sizes */

.text
.align 4
.long MAGIC, FLAGS, -(MAGIC + FLAGS)
.globl _start
_start:
    cli
    lgdt gdt_pointer
    ljmp $8, $1f
1:
    mov $16, %cx
    mov %cx, %ds
    mov %cx, %es
    mov %cx, %ss
    mov $stack_top, %esp
    push %ebx
    push %eax
    call guest_main
2:
    hlt
    jmp 2b

/* The timer: counts, and tells the interrupt controller that it may interrupt again. */
.globl timer_interrupt
timer_interrupt:
    pushl %eax
    incl ticks
    movb $0x20, %al
    outb %al, $0x20
    popl %eax
    iret

.data
.align 8
gdt:
    .quad 0
    .quad 0x00cf9a000000ffff /* code, all 4 GiB */
    .quad 0x00cf92000000ffff /* data, the same */
gdt_pointer:
    .word 23
    .long gdt

.bss
.align 16
.skip 8192
stack_top:

.section .note.GNU-stack, "", @progbits
