/* guest_io.h: types and port I/O of the lab's guest, which has no library. */
#ifndef BALLAST_LAB_GUEST_IO_H
#define BALLAST_LAB_GUEST_IO_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

static inline void outb(u16 port, u8 value)
{
    __asm__ volatile("outb %0,%1" ::"a"(value), "Nd"(port));
}

static inline void outw(u16 port, u16 value)
{
    __asm__ volatile("outw %0,%1" ::"a"(value), "Nd"(port));
}

static inline void outl(u16 port, u32 value)
{
    __asm__ volatile("outl %0,%1" ::"a"(value), "Nd"(port));
}

static inline u8 inb(u16 port)
{
    u8 value;
    __asm__ volatile("inb %1,%0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline u16 inw(u16 port)
{
    u16 value;
    __asm__ volatile("inw %1,%0" : "=a"(value) : "Nd"(port));
    return value;
}

static inline u32 inl(u16 port)
{
    u32 value;
    __asm__ volatile("inl %1,%0" : "=a"(value) : "Nd"(port));
    return value;
}

#endif
