/* guest_balloon.c: the statistics queue of the virtio memory balloon: one buffer that the device keeps until
 * it wants new figures. */
#include "guest_balloon.h"

enum {
    PCI_ADDRESS = 0xcf8,
    PCI_DATA = 0xcfc,
    PCI_SLOTS = 32,
    PCI_COMMAND = 0x04,
    PCI_COMMAND_ALL = 0x07, /* ports, memory, access to memory */
    PCI_BAR0 = 0x10,
    BALLOON_ID = 0x10021af4,

    /* registers, from BAR0 */
    GUEST_FEATURES = 4,
    QUEUE_PAGE = 8,
    QUEUE_SIZE = 12,
    QUEUE_SELECT = 14,
    QUEUE_NOTIFY = 16,
    STATUS = 18,

    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    FEATURE_STATISTICS = 1 << 1,
    STATISTICS_QUEUE = 2,
    NO_INTERRUPT = 1,
    PAGE = 4096,
    ENTRIES_MAX = 128, /* as many as fit into the pages below */

    MEM_FREE = 4,
    MEM_TOTAL = 5,
    MEM_AVAILABLE = 6,
    STATISTICS = 3,
};

struct descriptor {
    u64 address;
    u32 length;
    u16 flags, next;
};

struct available {
    u16 flags, index, ring[ENTRIES_MAX];
};

struct used {
    u16 flags, index;
};

struct statistic {
    u16 tag;
    u64 value;
} __attribute__((packed));

/* Descriptors and available; used on the second page. */
static u8 queue[2 * PAGE] __attribute__((aligned(PAGE)));
static struct statistic statistics[STATISTICS];
static u16 port; /* 0: no balloon */
static u16 entries, taken;

static u32 pci_read(u32 slot, u32 offset)
{
    outl(PCI_ADDRESS, 0x80000000u | slot << 11 | offset);
    return inl(PCI_DATA);
}

static volatile struct available *available(void)
{
    return (volatile struct available *)(queue + entries * sizeof(struct descriptor));
}

void guest_balloon_start(void)
{
    u32 slot = 0;

    while (slot < PCI_SLOTS && pci_read(slot, 0) != BALLOON_ID)
        slot++;
    if (slot == PCI_SLOTS)
        return;
    u32 command = pci_read(slot, PCI_COMMAND);
    outl(PCI_DATA, command | PCI_COMMAND_ALL);
    port = pci_read(slot, PCI_BAR0) & 0xfffc;

    outb(port + STATUS, 0);
    outb(port + STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
    outw(port + QUEUE_SELECT, STATISTICS_QUEUE);
    entries = inw(port + QUEUE_SIZE);
    if (!(inl(port) & FEATURE_STATISTICS) || entries == 0 || entries > ENTRIES_MAX) {
        port = 0;
        return;
    }
    outl(port + GUEST_FEATURES, FEATURE_STATISTICS);
    *(struct descriptor *)queue =
        (struct descriptor){.address = (u32)statistics, .length = sizeof statistics};
    available()->flags = NO_INTERRUPT;
    outl(port + QUEUE_PAGE, (u32)queue / PAGE);
    outb(port + STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_DRIVER_OK);
}

void guest_balloon_tell(u32 total, u32 used)
{
    volatile struct available *a = available();
    volatile struct used *u = (volatile struct used *)(queue + PAGE);

    /* `taken` buffers have been given away; the device has given back as many as it has used. */
    if (!port || u->index != taken)
        return;
    statistics[0] = (struct statistic){MEM_FREE, total - used};
    statistics[1] = (struct statistic){MEM_TOTAL, total};
    statistics[2] = (struct statistic){MEM_AVAILABLE, total - used};
    a->ring[a->index % entries] = 0;
    __asm__ volatile("" ::: "memory");
    a->index = (u16)(a->index + 1);
    taken++;
    outw(port + QUEUE_NOTIFY, STATISTICS_QUEUE);
}
