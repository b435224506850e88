// Pictures to and from plain pixels with libvips, whose own functions take variable arguments, which Swift cannot call.
// Pixels are RGBA, eight bits each, sRGB, not premultiplied, rows from the top without gaps.
#ifndef C_IMAGE_DECODING_H
#define C_IMAGE_DECODING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-extension"
#else
#define _Nonnull
#define _Nullable
#endif

typedef enum { CIMAGE_JPEG, CIMAGE_PNG, CIMAGE_GIF, CIMAGE_WEBP } cimage_format;

typedef enum {
    CIMAGE_DONE,
    CIMAGE_FAILED,
    CIMAGE_CANCELLED,
    /// `needed_bytes` says how much it would be.
    CIMAGE_TOO_LARGE,
} cimage_status;

/// What is asked of a decoder. The bytes are neither copied nor kept after `cimage_close`.
typedef struct {
    const void *_Nonnull bytes;
    size_t count;
    cimage_format format;
    int frames;
    /// The longer side of the result has no more pixels; 0: as many as the source.
    int max_pixel_size;
    /// Of all pixels at the size at which they are loaded.
    size_t allowed_bytes;
    /// Asked for every few rows, on the calling thread.
    bool (*_Nonnull is_cancelled)(const void *_Nullable context);
    const void *_Nullable context;
} cimage_request;

/// A decoding that has begun. Of one thread.
typedef struct cimage cimage;

typedef struct {
    cimage *_Nullable image;
    /// Of each frame of the result.
    int width, height, frames;
    /// How often an animation runs; 0: without end.
    int loops;
    size_t needed_bytes;
    /// Of the library, if it is certain that it belongs to this call; to be freed with `cimage_free`.
    char *_Nullable message;
} cimage_opened;

/// Reads the headers. To be closed if and only if `image` is set.
cimage_status cimage_open(const cimage_request *_Nonnull request, cimage_opened *_Nonnull result);
/// How long a frame is shown.
int cimage_milliseconds(const cimage *_Nonnull image, int frame);
/// Decodes the next frame into width × height × 4 bytes.
cimage_status cimage_read(cimage *_Nonnull image, uint8_t *_Nonnull pixels, char *_Nullable *_Nonnull message);
void cimage_close(cimage *_Nonnull image);

/// What becomes a file: frames of one size, one below the other.
typedef struct {
    const uint8_t *_Nonnull pixels;
    int width, height, frames, loops;
    const int *_Nullable milliseconds;
    cimage_format format;
    int quality;
} cimage_drawing;

/// On success `bytes` is set, to be freed with `cimage_free`.
cimage_status cimage_encode(
    const cimage_drawing *_Nonnull drawing, void *_Nullable *_Nonnull bytes, size_t *_Nonnull count,
    char *_Nullable *_Nonnull message);

/// The picture scaled down to `width` × `height`.
cimage_status cimage_scale(
    const uint8_t *_Nonnull pixels, int width, int height, uint8_t *_Nonnull scaled, int scaled_width,
    int scaled_height, char *_Nullable *_Nonnull message);

void cimage_free(void *_Nullable memory);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
