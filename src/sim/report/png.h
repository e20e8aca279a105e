/* png.h: an image of a few colours as a data: address, for a page that needs no other file. */
#ifndef BALLAST_SIM_REPORT_PNG_H
#define BALLAST_SIM_REPORT_PNG_H

#include "base/strbuf.h"

#include <stdint.h>

struct png {
    uint32_t width, height;
    const uint8_t *pixels;       /* row by row, indices of the palette; index 0 is transparent */
    const uint8_t (*palette)[3]; /* red, green, blue */
    uint32_t n_colours;
};

/* "data:image/png;base64,...". PNG: ISO/IEC 15948:2004. */
void png_put_data_url(const struct png *image, struct strbuf *out);

#endif
