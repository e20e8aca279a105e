/* guest.c: a guest of the lab: no operating system, only a load that is set from outside over its serial
 * line. It uses so much of its CPU, keeps so much memory in use and rewrites so much of it as it is told, and
 * says once a second how long it has been up. */

#include "guest_balloon.h"

enum {
    TICKS_PER_S = 25, /* each costs the emulator a third of a millisecond */
    PIT_DIVISOR = 1193182 / TICKS_PER_S,
    COM1 = 0x3f8,
    COM1_STATUS = COM1 + 5,
    RECEIVED = 0x01,
    MAY_SEND = 0x20,
    PAGE = 4096,
    DATA_FIRST = 0x400000, /* above the guest itself */
    LINE_MAX = 80,
    DIRTY_MAX_KIB_S = 1 << 23,
    BUSY_LOOPS = 200, /* between two looks at the clock */
};

/* The load that the guest generates. */
struct load {
    u32 cpu_percent;
    u32 mem_mib;
    u32 dirty_kib_s;
};

volatile u32 ticks; /* since it has booted; boot.S counts */

/* ---- the serial line ---- */

static void print(const char *text)
{
    for (; *text; text++) {
        while (!(inb(COM1_STATUS) & MAY_SEND))
            ;
        outb(COM1, (u8)*text);
    }
}

static void print_number(const char *label, u32 n)
{
    char digits[12];
    int at = sizeof digits - 1;

    digits[at] = 0;
    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    print(label);
    print(digits + at);
}

/* The value of "word=" in the text, as a number; 0 where it is missing. */
static u32 number_after(const char *text, const char *word)
{
    for (; *text; text++) {
        const char *a = text, *b = word;
        u32 n = 0;
        while (*b && *a == *b)
            a++, b++;
        if (*b)
            continue;
        while (*a >= '0' && *a <= '9')
            n = n * 10 + (u32)(*a++ - '0');
        return n;
    }
    return 0;
}

static void print_word_after(const char *text, const char *word)
{
    for (; *text; text++) {
        const char *a = text, *b = word;
        while (*b && *a == *b)
            a++, b++;
        if (*b)
            continue;
        for (; *a && *a != ' '; a++)
            print((char[]){*a, 0});
        return;
    }
}

/* What has come, up to a whole line, which is the new load. */
static void listen(struct load *load)
{
    static char line[LINE_MAX];
    static u32 length;

    while (inb(COM1_STATUS) & RECEIVED) {
        char c = (char)inb(COM1);
        if (c != '\n') {
            if (length < LINE_MAX - 1)
                line[length++] = c;
            continue;
        }
        line[length] = 0;
        length = 0;
        load->cpu_percent = number_after(line, "cpu=");
        load->mem_mib = number_after(line, "mem=");
        load->dirty_kib_s = number_after(line, "dirty=");
    }
}

static void report(const char *command_line, u32 boot, const struct load *load)
{
    print("guest ");
    print_word_after(command_line, "name=");
    print_number(" boot=", boot);
    print_number(" up=", ticks / TICKS_PER_S);
    print_number(" cpu=", load->cpu_percent);
    print_number(" mem=", load->mem_mib);
    print_number(" dirty=", load->dirty_kib_s);
    print("\n");
}

/* ---- the machine ---- */

struct gate {
    u16 offset_low, selector;
    u8 zero, flags;
    u16 offset_high;
} __attribute__((packed));

extern void timer_interrupt(void);

/* The timer interrupts TICKS_PER_S times a second; nothing else does. */
static void start_timer(void)
{
    static struct gate gates[48];
    static const u8 setup[][2] = {{0x20, 0x11},
                                  {0xa0, 0x11},
                                  {0x21, 32},
                                  {0xa1, 40},
                                  {0x21, 4},
                                  {0xa1, 2},
                                  {0x21, 1},
                                  {0xa1, 1},
                                  {0x21, 0xfe},
                                  {0xa1, 0xff},
                                  {0x43, 0x34},
                                  {0x40, PIT_DIVISOR & 0xff},
                                  {0x40, PIT_DIVISOR >> 8}};
    struct {
        u16 limit;
        u32 base;
    } __attribute__((packed)) pointer = {sizeof gates - 1, (u32)gates};
    u32 handler = (u32)timer_interrupt;

    gates[32] = (struct gate){(u16)handler, 8, 0, 0x8e, (u16)(handler >> 16)};
    __asm__ volatile("lidt %0" ::"m"(pointer));
    for (u32 i = 0; i < sizeof setup / sizeof setup[0]; i++)
        outb(setup[i][0], setup[i][1]);
    __asm__ volatile("sti");
}

/* The time stamp counter: differs from boot to boot, so that a restart is seen even if no report came
 * between. */
static u32 boot_id(void)
{
    u32 low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return low ^ high;
}

/* ---- the load ---- */

/* Memory in use: [DATA_FIRST, end). What is new is touched at once. */
static u32 grow(u32 end, u32 top, u32 mem_mib)
{
    u32 mib_max = (top - DATA_FIRST) >> 20;
    u32 wanted = DATA_FIRST + ((mem_mib < mib_max ? mem_mib : mib_max) << 20);

    for (; end < wanted; end += PAGE)
        *(volatile u32 *)end = ticks;
    return wanted;
}

/* Rewrites a tick's share of the memory in use, page by page from `next`; gives the page to go on with. */
static u32 rewrite(u32 next, u32 end, const struct load *load)
{
    static u32 debt_kib; /* times TICKS_PER_S */
    const u32 cost = PAGE / 1024 * TICKS_PER_S;

    if (end == DATA_FIRST)
        return DATA_FIRST;
    debt_kib += load->dirty_kib_s < DIRTY_MAX_KIB_S ? load->dirty_kib_s : DIRTY_MAX_KIB_S;
    for (; debt_kib >= cost; debt_kib -= cost) {
        if (next >= end)
            next = DATA_FIRST;
        *(volatile u32 *)next = ticks;
        next += PAGE;
    }
    return next;
}

void guest_main(u32 magic, const u32 *information)
{
    const char *command_line = information[0] & 4 ? (const char *)information[4] : "";
    u32 top = 0x100000 + information[2] * 1024, boot = boot_id();
    struct load load = {0};
    u32 end = DATA_FIRST, next = DATA_FIRST, seen = 0, reported_s = 0, cpu_debt = 0;

    (void)magic;
    outb(COM1 + 2, 0xc7); /* FIFOs on, so that what comes between two ticks is not lost */
    guest_balloon_start();
    start_timer();
    report(command_line, boot, &load);
    for (;;) {
        u32 now = ticks;
        if (now != seen) {
            seen = now;
            listen(&load);
            end = grow(end, top, load.mem_mib);
            guest_balloon_tell(top, end);
            cpu_debt = cpu_debt % 100 + load.cpu_percent;
            next = rewrite(next, end, &load);
            if (now / TICKS_PER_S != reported_s) {
                reported_s = now / TICKS_PER_S;
                report(command_line, boot, &load);
            }
        }
        if (cpu_debt >= 100)
            for (volatile u32 i = 0; i < BUSY_LOOPS; i++)
                ;
        else
            __asm__ volatile("hlt");
    }
}
