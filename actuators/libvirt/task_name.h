/* task_name.h: the name of a task, which is all that another process needs to follow it:
 * "migrate/FLAGS/UUID/FROM/TO" or "start/FLAGS/UUID/FROM/TO". */
#ifndef BALLAST_ACTUATORS_LIBVIRT_TASK_NAME_H
#define BALLAST_ACTUATORS_LIBVIRT_TASK_NAME_H

#include <ballast/actuator.h>

#define VM_UUID_BYTES 37 /* with the end */

struct task_name {
    bool start;      /* of a VM that is off; else a migration */
    bool off;        /* start: the VM is only defined on `to`, and stays off */
    bool persistent; /* the VM has a definition, which has to move with it */
    bool post_copy;  /* the migration may switch to it */
    bool autostart;  /* the VM starts with its host; not while its definition may be on two */
    bool arrived;    /* of what it left over (leftovers.h): the VM was on `to` after its end */
    char vm[VM_UUID_BYTES];
    char from[TASK_NAME_MAX], to[TASK_NAME_MAX]; /* hosts; from: start: where the definition was */
};

/* -EINVAL: the names of the hosts are too long together, or have a slash, or vm is no UUID. */
int task_name_write(const struct task_name *t, char ret[TASK_NAME_MAX], struct err *err);

/* -EINVAL: the text is no such name. */
int task_name_read(const char *text, struct task_name *ret, struct err *err);

#endif
