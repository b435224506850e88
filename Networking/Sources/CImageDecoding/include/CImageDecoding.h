// Functions that convert images to and from plain pixels with libvips. Swift cannot call the functions of libvips
// itself, because they have variable arguments. Pixels are RGBA with eight bits for each component, in sRGB and not
// premultiplied. The rows begin at the top and have no padding.
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
    /// The image needs `needed_bytes`, which exceeds the limit.
    CIMAGE_TOO_LARGE,
} cimage_status;

/// A request to a decoder. The library does not copy the bytes, and does not use them after `cimage_close`.
typedef struct {
    const void *_Nonnull bytes;
    size_t count;
    cimage_format format;
    /// The size of one frame according to the headers, which the caller has compared with its limits.
    int width, height;
    int frames;
    /// The maximum number of pixels of the longer side, or 0 for the size of the source.
    int max_pixel_size;
    /// The maximum size of all pixels at the size at which they are loaded.
    size_t allowed_bytes;
    /// Called after every few rows, on the calling thread.
    bool (*_Nonnull is_cancelled)(const void *_Nullable context);
    const void *_Nullable context;
} cimage_request;

/// A decoding in progress, which one thread at a time can use.
typedef struct cimage cimage;

typedef struct {
    cimage *_Nullable image;
    /// The size of each frame of the result, and the number of frames.
    int width, height, frames;
    /// The number of times that an animation plays, or 0 for an endless animation.
    int loops;
    size_t needed_bytes;
    /// The library's message if it certainly belongs to this call. Release it with `cimage_free`.
    char *_Nullable message;
} cimage_opened;

/// Reads the headers. If and only if `image` is set, the caller must call `cimage_close`.
cimage_status cimage_open(const cimage_request *_Nonnull request, cimage_opened *_Nonnull result);
/// Returns the duration of a frame in milliseconds.
int cimage_milliseconds(const cimage *_Nonnull image, int frame);
/// Decodes the next frame into width × height × 4 bytes.
cimage_status cimage_read(cimage *_Nonnull image, uint8_t *_Nonnull pixels, char *_Nullable *_Nonnull message);
void cimage_close(cimage *_Nonnull image);

/// The content of a file: frames of one size, one below the other.
typedef struct {
    const uint8_t *_Nonnull pixels;
    int width, height, frames, loops;
    const int *_Nullable milliseconds;
    cimage_format format;
    int quality;
} cimage_drawing;

/// Encodes a file. On success, sets `bytes`, which the caller must release with `cimage_free`.
cimage_status cimage_encode(
    const cimage_drawing *_Nonnull drawing, void *_Nullable *_Nonnull bytes, size_t *_Nonnull count,
    char *_Nullable *_Nonnull message);

/// Scales an image down to `scaled_width` × `scaled_height`.
cimage_status cimage_scale(
    const uint8_t *_Nonnull pixels, int width, int height, uint8_t *_Nonnull scaled, int scaled_width,
    int scaled_height, char *_Nullable *_Nonnull message);

void cimage_free(void *_Nullable memory);

#if defined(__clang__)
#pragma clang diagnostic pop
#endif

#endif
