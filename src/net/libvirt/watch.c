/* watch.c: passes libvirt's events on to one listener. It looks at nothing. */
#include "net/libvirt/watch.h"

#include "base/xalloc.h"

#include <pthread.h>
#include <stdlib.h>

struct libvirt_watch {
    pthread_mutex_t lock;
    unsigned holders;
    void (*changed)(void *ctx);
    void *ctx;
};

struct libvirt_watch *libvirt_watch_new(void)
{
    struct libvirt_watch *w = xcalloc(1, sizeof *w);

    (void)pthread_mutex_init(&w->lock, NULL);
    w->holders = 1;
    return w;
}

void libvirt_watch_release(struct libvirt_watch *w)
{
    if (!w)
        return;
    (void)pthread_mutex_lock(&w->lock);
    bool last = --w->holders == 0;
    (void)pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

void libvirt_watch_set(struct libvirt_watch *w, void (*changed)(void *ctx), void *ctx)
{
    (void)pthread_mutex_lock(&w->lock);
    w->changed = changed;
    w->ctx = ctx;
    (void)pthread_mutex_unlock(&w->lock);
}

/* ---- what libvirt calls --------------------------------------------------------------------------- */

static void tell(struct libvirt_watch *w)
{
    (void)pthread_mutex_lock(&w->lock);
    if (w->changed)
        w->changed(w->ctx);
    (void)pthread_mutex_unlock(&w->lock);
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event, int detail, void *w)
{
    (void)conn, (void)dom, (void)event, (void)detail;
    tell(w);
    return 0;
}

static void on_io_error(virConnectPtr conn, virDomainPtr dom, const char *path, const char *device,
                        int action, const char *reason, void *w)
{
    (void)conn, (void)dom, (void)path, (void)device, (void)action, (void)reason;
    tell(w);
}

static void on_job_or_tuning(virConnectPtr conn, virDomainPtr dom, virTypedParameterPtr params, int n,
                             void *w)
{
    (void)conn, (void)dom, (void)params, (void)n;
    tell(w);
}

static void on_device(virConnectPtr conn, virDomainPtr dom, const char *device, void *w)
{
    (void)conn, (void)dom, (void)device;
    tell(w);
}

static void on_metadata(virConnectPtr conn, virDomainPtr dom, int type, const char *uri, void *w)
{
    (void)conn, (void)dom, (void)type, (void)uri;
    tell(w);
}

static void on_close(virConnectPtr conn, int reason, void *w)
{
    (void)conn, (void)reason;
    tell(w);
}

static void on_end(void *w)
{
    libvirt_watch_release(w);
}

static const struct {
    int event;
    virConnectDomainEventGenericCallback call;
} callbacks[] = {
    {VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle)},
    {VIR_DOMAIN_EVENT_ID_IO_ERROR_REASON, VIR_DOMAIN_EVENT_CALLBACK(on_io_error)},
    {VIR_DOMAIN_EVENT_ID_JOB_COMPLETED, VIR_DOMAIN_EVENT_CALLBACK(on_job_or_tuning)},
    {VIR_DOMAIN_EVENT_ID_TUNABLE, VIR_DOMAIN_EVENT_CALLBACK(on_job_or_tuning)},
    {VIR_DOMAIN_EVENT_ID_DEVICE_ADDED, VIR_DOMAIN_EVENT_CALLBACK(on_device)},
    {VIR_DOMAIN_EVENT_ID_DEVICE_REMOVED, VIR_DOMAIN_EVENT_CALLBACK(on_device)},
    {VIR_DOMAIN_EVENT_ID_METADATA_CHANGE, VIR_DOMAIN_EVENT_CALLBACK(on_metadata)},
};

_Static_assert(sizeof callbacks / sizeof *callbacks <= LIBVIRT_WATCHES_MAX, "room for each callback");

/* ---- registering ---------------------------------------------------------------------------------- */

/* libvirt calls on_end() for each registration that it has taken. */
static struct libvirt_watch *hold(struct libvirt_watch *w)
{
    (void)pthread_mutex_lock(&w->lock);
    w->holders++;
    (void)pthread_mutex_unlock(&w->lock);
    return w;
}

static bool is_wanted(struct libvirt_watch *w)
{
    (void)pthread_mutex_lock(&w->lock);
    bool wanted = w->changed != NULL;
    (void)pthread_mutex_unlock(&w->lock);
    return wanted;
}

void libvirt_watch_begin(struct libvirt_watch *w, virConnectPtr conn, struct libvirt_watched *ret)
{
    *ret = (struct libvirt_watched){0};
    if (!is_wanted(w))
        return;
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++) {
        int id = virConnectDomainEventRegisterAny(conn, NULL, callbacks[i].event, callbacks[i].call, hold(w),
                                                  on_end);
        if (id < 0)
            libvirt_watch_release(w);
        else
            ret->ids[ret->n++] = id;
    }
    ret->close = virConnectRegisterCloseCallback(conn, on_close, hold(w), on_end) == 0;
    if (!ret->close)
        libvirt_watch_release(w);
}

void libvirt_watch_end(virConnectPtr conn, struct libvirt_watched *watched)
{
    for (unsigned i = 0; i < watched->n; i++)
        (void)virConnectDomainEventDeregisterAny(conn, watched->ids[i]);
    if (watched->close) /* libvirt has ended it itself where it has called it */
        (void)virConnectUnregisterCloseCallback(conn, on_close);
    *watched = (struct libvirt_watched){0};
}
