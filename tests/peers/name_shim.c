/* name_shim.c: preloaded into a program (LD_PRELOAD), it makes look-ups of names below .invalid fail after
 * the time that the system's own look-up takes without a name server; those of never.* after ten times as
 * long. */
#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define IN_VAIN_S 20

static int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static void find_real(void)
{
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **ret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT; /* any thread may be the first */
    const char *end = name ? strrchr(name, '.') : NULL;

    if (end && strcmp(end, ".invalid") == 0 && !(hints && hints->ai_flags & AI_NUMERICHOST)) {
        (void)sleep(strncmp(name, "never.", strlen("never.")) == 0 ? 10 * IN_VAIN_S : IN_VAIN_S);
        return EAI_AGAIN;
    }
    (void)pthread_once(&once, find_real);
    return real(name, service, hints, ret);
}
