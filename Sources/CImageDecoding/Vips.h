// What the files of this target share.
#ifndef CIMAGE_VIPS_H
#define CIMAGE_VIPS_H

#include "CImageDecoding.h"
#include <vips/vips.h>

/// A call into libvips, from its start to its end. See Vips.c for what it is good for.
typedef struct {
    uint64_t start;
    bool alone;
} vips_call_span;

/// Starts libvips where nobody has. False: it cannot be started.
bool vips_begin(vips_call_span *span);
/// The library's message, if it is this call's for certain; NULL otherwise.
char *vips_message(const vips_call_span *span);
void vips_end(void);

/// Replaces `*image`, which it releases, by what `step` has put into `next`; in an error by NULL.
bool vips_step(VipsImage **image, int result, VipsImage *next);
/// Replaces `*image` by one of four bands of eight bits, sRGB and alpha.
bool vips_to_rgba(VipsImage **image);
/// Replaces `*image` by one that is no larger than this on either side, turned upright and sRGB.
bool vips_to_size(VipsImage **image, int size);

#endif
