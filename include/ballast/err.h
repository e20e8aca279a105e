/* err.h: what a person will read when something did not work.
 *
 * A function that can fail returns 0 or a negative errno, and fills a struct err with one whole sentence. On
 * its way up the sentence is widened by those who know more ("source prod-vc: cannot log in: ..."), so that
 * what arrives at the log or the terminal says where, what and what was expected. Outputs are untouched on
 * failure.
 */
#ifndef BALLAST_ERR_H
#define BALLAST_ERR_H

#define ERR_TEXT_MAX 512

struct err {
    int code; /* negative errno, 0 when nothing failed */
    char text[ERR_TEXT_MAX];
};

/* Sets code and sentence; returns the code, so that `return err_set(err, -EINVAL, "...")` reads well. err may
 * be NULL where the caller does not want the sentence. A sentence that is too long is cut, never overrun. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the sentence that is there; returns its code. */
int err_widen(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
