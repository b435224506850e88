// Declarations that the files of this target share.
#ifndef CIMAGE_VIPS_H
#define CIMAGE_VIPS_H

#include "CImageDecoding.h"
#include <vips/vips.h>

/// A call into libvips, from its start to its end. Vips.c explains the purpose.
typedef struct {
    uint64_t start;
    bool alone;
} vips_call_span;

/// Starts libvips if necessary and begins a call. Returns false if libvips cannot start.
bool vips_begin(vips_call_span *span);
/// Returns the library's message if the message certainly belongs to this call, otherwise NULL.
char *vips_message(const vips_call_span *span);
void vips_end(void);

/// Releases `*image` and replaces it by `next`, or by NULL if `result` is an error.
bool vips_step(VipsImage **image, int result, VipsImage *next);
/// Replaces `*image` by an image with four bands of eight bits: sRGB and alpha.
bool vips_to_rgba(VipsImage **image);
/// Returns the rendering intent for the profile of an image. The profile may have a table for one intent only, and libvips
/// applies no profile without a table for the intent.
VipsIntent vips_intent_of_profile(VipsImage *image);
/// Replaces `*image` by an upright sRGB image whose sides are at most `size`.
bool vips_to_size(VipsImage **image, int size);

#endif
