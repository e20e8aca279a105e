/* calendar.c: reads calendar expressions. The grammar is that of systemd's src/shared/calendarspec.c, which
 * systemd.time(7) describes; where the manual is silent (a comma after the last day, two-digit years) that
 * source counts. */
#include "schedule/calendar.h"

#include "schedule/zone.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#define NUMBER_MAX 1000000
#define ITEMS_MAX 240 /* items of a list; systemd's limit */
#define DAYS_OF_WEEK 7

/* One field: its range, and its name in sentences. */
struct part {
    const char *what;
    int first, last;
};

static const struct part year_part = {"year", CALENDAR_YEAR_FIRST, CALENDAR_YEAR_LAST};
static const struct part month_part = {"month", 1, 12};
static const struct part day_part = {"day", 1, 31};
static const struct part day_from_end_part = {"day before the end of the month", 1, 28};
static const struct part hour_part = {"hour", 0, 23};
static const struct part minute_part = {"minute", 0, 59};
static const struct part second_part = {"second", 0, 59};

/* One item of a list: start, start..stop, start/repeat, start..stop/repeat. */
struct item {
    int start, stop, repeat; /* stop -1: none; repeat 0: none */
};

struct list {
    struct item items[ITEMS_MAX];
    int n;
    bool all; /* "*" */
};

struct reader {
    const char *whole; /* for the sentences */
    const char *at;
    struct err *err;
};

static int refuse(const struct reader *r, const char *what)
{
    return err_set(r->err, -EINVAL,
                   "\"%s\": %s, expected a calendar expression such as \"Mon..Fri 20:00\" or \"*-*-* 22:30 "
                   "Europe/Berlin\" (systemd.time(7))",
                   r->whole, what);
}

/* ---- lists of numbers ---- */

static int read_number(struct reader *r, int *ret)
{
    int value = 0;

    if (!isdigit((unsigned char)*r->at))
        return refuse(r, *r->at ? "a number is missing" : "it ends too early");
    for (; isdigit((unsigned char)*r->at); r->at++) {
        value = value * 10 + (*r->at - '0');
        if (value > NUMBER_MAX)
            return refuse(r, "a number is too large");
    }
    *ret = value;
    return 0;
}

static int read_item(struct reader *r, struct item *ret)
{
    struct item i = {.stop = -1};
    int e = read_number(r, &i.start);

    if (e == 0 && r->at[0] == '.' && r->at[1] == '.') {
        r->at += 2;
        e = read_number(r, &i.stop);
    } else if (e == 0 && r->at[0] == '.' && isdigit((unsigned char)r->at[1])) {
        return refuse(r, "fractions of a second are not supported");
    }
    if (e == 0 && *r->at == '/') {
        r->at++;
        e = read_number(r, &i.repeat);
        if (e == 0 && i.repeat == 0)
            return refuse(r, "a repetition of 0");
    }
    if (e == 0 && *r->at != '\0' && !strchr(" ,-~:", *r->at))
        return refuse(r, "unexpected characters between the numbers");
    if (e == 0)
        *ret = i;
    return e;
}

static int read_list(struct reader *r, struct list *ret)
{
    ret->n = 0;
    ret->all = *r->at == '*';
    if (ret->all) {
        r->at++;
        return 0;
    }
    for (;;) {
        if (ret->n == ITEMS_MAX)
            return refuse(r, "a list is too long");
        int e = read_item(r, &ret->items[ret->n]);
        if (e < 0)
            return e;
        ret->n++;
        if (*r->at != ',')
            return 0;
        r->at++;
    }
}

/* ---- from lists to sets ---- */

static void set_bit(uint64_t *set, int bit)
{
    set[bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* A range ends at its last repetition; a range without a second value is one number. */
static struct item normalised(struct item i)
{
    int step = i.repeat ? i.repeat : 1;

    if (i.stop > i.start)
        i.stop -= (i.stop - i.start) % step;
    return i.stop == i.start ? (struct item){.start = i.start, .stop = -1} : i;
}

/* As in systemd: a repetition without an end must occur at least once, and a range of one second is refused.
 */
static bool is_within(const struct item *written, const struct part *part, bool from_end)
{
    struct item i = normalised(*written);

    if (i.start < part->first || i.start > part->last || i.repeat > part->last - part->first ||
        (part == &second_part && written->stop == written->start && written->repeat == 0))
        return false;
    if (i.stop >= 0)
        return written->stop <= part->last && i.stop > i.start;
    return written->stop <= part->last &&
           (from_end ? i.start - i.repeat >= part->first : i.start + i.repeat <= part->last);
}

/* For days counted from the end: "~7/2" steps towards the end, and the 7th last day is the first of
 * "~1..7/2". */
static void add_from_end(uint64_t *set, const struct item *written)
{
    struct item i = normalised(*written);
    int farthest = i.stop >= 0 ? i.stop : i.start;
    int nearest = i.stop >= 0 ? i.start : i.repeat ? 1 : i.start;

    for (int k = farthest; k >= nearest; k -= i.repeat ? i.repeat : 1)
        set_bit(set, k);
}

static void add_item(uint64_t *set, const struct item *i, const struct part *part)
{
    int last = i->stop >= 0 ? i->stop : i->repeat ? part->last : i->start;

    for (int k = i->start; k <= last; k += i->repeat ? i->repeat : 1)
        set_bit(set, k - (part == &year_part ? CALENDAR_YEAR_FIRST : 0));
}

static int fill(const struct reader *r, const struct list *l, const struct part *part, uint64_t *set)
{
    bool from_end = part == &day_from_end_part;
    static const struct item everything = {.repeat = 1, .stop = -1};

    for (int k = 0; k < l->n; k++) {
        if (!is_within(&l->items[k], part, from_end))
            return err_set(r->err, -EINVAL,
                           "\"%s\": the %s is out of its range or its order, expected %d to %d", r->whole,
                           part->what, part->first, part->last);
        if (from_end)
            add_from_end(set, &l->items[k]);
        else
            add_item(set, &l->items[k], part);
    }
    if (l->all) {
        struct item all = everything;
        all.start = part->first;
        add_item(set, &all, part);
    }
    return 0;
}

/* A year of two digits is in 1970 ... 2069. */
static int whole_year(int year)
{
    return year >= 0 && year < 70 ? year + 2000 : year >= 70 && year < 100 ? year + 1900 : year;
}

static void fix_years(struct list *l)
{
    for (int k = 0; k < l->n; k++) {
        l->items[k].start = whole_year(l->items[k].start);
        l->items[k].stop = whole_year(l->items[k].stop);
    }
}

/* ---- the parts of an expression ---- */

static const struct {
    const char *word;
    int day;
} day_words[] = {
    {"Monday", 0},   {"Mon", 0},      {"Tuesday", 1}, {"Tue", 1},    {"Wednesday", 2},
    {"Wed", 2},      {"Thursday", 3}, {"Thu", 3},     {"Friday", 4}, {"Fri", 4},
    {"Saturday", 5}, {"Sat", 5},      {"Sunday", 6},  {"Sun", 6},
};

#define N_DAY_WORDS (sizeof day_words / sizeof day_words[0])

static size_t find_day(const char *text)
{
    size_t i = 0;

    while (i < N_DAY_WORDS && strncasecmp(text, day_words[i].word, strlen(day_words[i].word)) != 0)
        i++;
    return i;
}

static void skip_spaces(struct reader *r)
{
    r->at += strspn(r->at, " ");
}

static int read_weekdays(struct reader *r, struct calendar *c)
{
    int from = -1; /* start of a range */

    for (bool first = true;; first = false) {
        size_t i = find_day(r->at);
        if (i == N_DAY_WORDS)
            return first ? 0 : refuse(r, "a day of the week is missing");
        r->at += strlen(day_words[i].word);
        if (*r->at != '\0' && !strchr("-., ", *r->at))
            return refuse(r, "a day of the week is not one");
        int day = day_words[i].day;
        if (from > day)
            return refuse(r, "days of the week run from Monday to Sunday");
        for (int d = from >= 0 ? from : day; d <= day; d++)
            set_bit(&c->weekdays, d);
        bool range = *r->at == '-' || *r->at == '.';
        if (range && (from >= 0 || (*r->at == '.' && r->at[1] != '.')))
            return refuse(r, "a range of days is not one");
        from = range ? day : -1;
        r->at += *r->at == '.' ? strspn(r->at, ".") : *r->at == '-' || *r->at == ',' ? 1 : 0;
        if (*r->at == '\0' || *r->at == ' ') {
            skip_spaces(r);
            return from < 0 ? 0 : refuse(r, "a range of days has no end");
        }
    }
}

struct lists {
    struct list list[3];
    int n;
    bool from_end;
};

/* Parses [[year-]month-]day; nothing, if a time follows. */
static int read_date(struct reader *r, struct lists *ret)
{
    const char *start = r->at;

    ret->n = 0;
    ret->from_end = false;
    if (*r->at == '@')
        return refuse(r, "\"@\" is not supported");
    while (*r->at != '\0') {
        int e = read_list(r, &ret->list[ret->n++]);
        if (e < 0)
            return e;
        if (ret->n == 1 && (*r->at == ':' || *r->at == '\0')) { /* an hour, not a day */
            r->at = start;
            ret->n = 0;
            return 0;
        }
        if (*r->at == ' ' || *r->at == '\0') {
            if (ret->n == 1)
                return refuse(r, "a date of one number");
            skip_spaces(r);
            return 0;
        }
        if ((*r->at != '-' && *r->at != '~') || ret->from_end || ret->n == 3)
            return refuse(r, "the date cannot be read");
        ret->from_end = *r->at++ == '~';
    }
    return ret->n == 0 ? 0 : refuse(r, "the date ends too early");
}

static int take_date(const struct reader *r, struct lists *l, struct calendar *c)
{
    struct list every = {.all = true};
    struct list *year = l->n == 3 ? &l->list[0] : &every;
    struct list *month = l->n > 1 ? &l->list[l->n - 2] : &every;
    struct list *day = l->n > 0 ? &l->list[l->n - 1] : &every;

    c->from_end = l->from_end && !day->all;
    fix_years(year);
    int e = fill(r, year, &year_part, c->years);
    if (e == 0)
        e = fill(r, month, &month_part, &c->months);
    return e < 0 ? e : fill(r, day, c->from_end ? &day_from_end_part : &day_part, &c->days);
}

/* Parses hour:minute[:second]; nothing means midnight. */
static int read_time(struct reader *r, struct calendar *c)
{
    static const struct part *const parts[] = {&hour_part, &minute_part, &second_part};
    uint64_t *const sets[] = {&c->hours, &c->minutes, &c->seconds};
    int n = 0;

    while (*r->at != '\0') {
        struct list l;
        int e = read_list(r, &l);
        if (e == 0)
            e = fill(r, &l, parts[n], sets[n]);
        if (e < 0)
            return e;
        n++;
        if (*r->at == '\0')
            break;
        if (*r->at != ':' || n == 3)
            return refuse(r, "the time cannot be read");
        if (*++r->at == '\0')
            return refuse(r, "the time ends too early");
    }
    if (n == 1)
        return refuse(r, "a time without minutes");
    for (; n < 3; n++)
        set_bit(sets[n], 0);
    return 0;
}

static const struct {
    const char *word, *meaning;
} shorthands[] = {
    {"minutely", "*-*-* *:*:00"},
    {"hourly", "*-*-* *:00:00"},
    {"daily", "*-*-* 00:00:00"},
    {"weekly", "Mon *-*-* 00:00:00"},
    {"monthly", "*-*-01 00:00:00"},
    {"quarterly", "*-01,04,07,10-01 00:00:00"},
    {"biannually", "*-01,07-01 00:00:00"},
    {"bi-annually", "*-01,07-01 00:00:00"},
    {"semiannually", "*-01,07-01 00:00:00"},
    {"semi-annually", "*-01,07-01 00:00:00"},
    {"yearly", "*-01-01 00:00:00"},
    {"annually", "*-01-01 00:00:00"},
};

static const char *without_shorthand(const char *text)
{
    for (size_t i = 0; i < sizeof shorthands / sizeof shorthands[0]; i++)
        if (strcasecmp(text, shorthands[i].word) == 0)
            return shorthands[i].meaning;
    return text;
}

/* The word after the last space is a zone if it is, or begins like, the name of a zone. */
static int take_zone(const struct reader *r, char *text, const char **zone)
{
    char *space = strrchr(text, ' ');
    const char *last = space ? space + 1 : text;

    if (space && strcasecmp(last, "UTC") == 0)
        *zone = ZONE_UTC;
    else if (space && zone_is_known(last))
        *zone = last;
    else if (isalpha((unsigned char)last[0]) && space && find_day(last) == N_DAY_WORDS)
        return err_set(r->err, -EINVAL,
                       "\"%s\": \"%s\" is not a time zone, expected UTC or a name like Europe/Berlin",
                       r->whole, last);
    else
        return 0;
    *space = '\0';
    return 0;
}

int calendar_parse(const char *text, const char *zone, struct arena *a, struct calendar *ret, struct err *err)
{
    struct reader r = {.whole = text, .err = err};
    struct calendar c = {0};
    struct lists date;
    instant_s first;

    if (strlen(text) > CALENDAR_TEXT_MAX)
        return err_set(err, -EINVAL, "a calendar expression is longer than %d bytes", CALENDAR_TEXT_MAX);
    char *rest = arena_strdup(a, text);
    int e = take_zone(&r, rest, &zone);
    if (e < 0)
        return e;
    r.at = without_shorthand(rest);
    if (*r.at == '\0')
        return refuse(&r, "the expression is empty");
    e = read_weekdays(&r, &c);
    if (e == 0)
        e = read_date(&r, &date);
    if (e == 0)
        e = take_date(&r, &date, &c);
    if (e == 0)
        e = read_time(&r, &c);
    if (e < 0)
        return e;
    if (c.weekdays == 0)
        c.weekdays = (1u << DAYS_OF_WEEK) - 1;
    c.zone = arena_strdup(a, zone);
    c.text = arena_strdup(a, text);
    if (!calendar_next(&c, -1, &first))
        return err_set(err, -EINVAL, "\"%s\" never occurs, expected a date that exists", text);
    *ret = c;
    return 0;
}
