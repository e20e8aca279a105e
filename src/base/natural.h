/* natural.h: the order in which a person expects names: esx2 before esx10.
 *
 * Runs of digits compare as numbers of any length, all else byte by byte, whatever the locale. Names that
 * differ in leading zeros only (esx2, esx02) are ordered too, by their bytes: 0 is for equal texts only.
 */
#ifndef BALLAST_BASE_NATURAL_H
#define BALLAST_BASE_NATURAL_H

/* Below 0, 0 or above 0, like strcmp(). */
int natural_compare(const char *a, const char *b);

#endif
