#include "core/layout/failover_internal.h"

void spare_note(struct spare *s, enum note_kind kind, uint32_t slot, uint32_t ix)
{
    if (!s->trying)
        return;
    struct spare_note note = {.kind = kind, .slot = slot, .ix = ix};
    for (int r = 0; r < RES_COUNT; r++) {
        if (kind == NOTE_ROOM) {
            note.was[r] = s->room[r][slot];
            note.peak[r] = s->peak[r][slot];
        }
        if (kind == NOTE_USED)
            note.was[r] = s->of[slot].items[ix].used[r];
    }
    if (kind == NOTE_PLACE)
        note.ix = s->place_of[slot];
    s->notes = arena_grow(s->a, s->notes, s->n_notes, &s->cap_notes, sizeof s->notes[0]);
    s->notes[s->n_notes++] = note;
}

static void put_back(struct spare *s, const struct spare_note *note)
{
    switch (note->kind) {
    case NOTE_ROOM:
        for (int r = 0; r < RES_COUNT; r++) {
            s->room[r][note->slot] = note->was[r];
            s->peak[r][note->slot] = note->peak[r];
        }
        break;
    case NOTE_USED:
        for (int r = 0; r < RES_COUNT; r++)
            s->of[note->slot].items[note->ix].used[r] = note->was[r];
        break;
    case NOTE_KEPT:
        s->of[note->slot].n--;
        break;
    case NOTE_KEEPERS:
        s->at[note->slot].n--;
        break;
    case NOTE_PLACE:
        s->place_of[note->slot] = note->ix;
        break;
    }
}

void spare_try(struct spare *s)
{
    s->trying = true;
    s->n_notes = 0;
}

void spare_undo(struct spare *s)
{
    while (s->n_notes > 0)
        put_back(s, &s->notes[--s->n_notes]);
    s->trying = false;
}
