/* err.h: an error as an admin will read it.
 *
 * A function that can fail returns 0 or a negative errno, and fills a struct err with one whole sentence.
 * Each caller that knows more puts it before the sentence ("source prod-vc: cannot log in: ..."), so that
 * the log or the terminal shows where, what and what was expected. Outputs are untouched on failure.
 */
#ifndef BALLAST_ERR_H
#define BALLAST_ERR_H

#define ERR_TEXT_MAX 512

struct err {
    int code; /* negative errno, 0 when nothing failed */
    char text[ERR_TEXT_MAX];
};

/* Sets code and sentence; returns the code, so that `return err_set(err, -EINVAL, "...")` reads well. err
 * may be NULL where the caller needs no sentence. A sentence that is too long is cut. */
int err_set(struct err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the present sentence; returns its code. */
int err_widen(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
