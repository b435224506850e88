#ifdef IMAGES
#include "Vips.h"
#include <string.h>

struct cimage {
    vips_call_span span;
    cimage_request request;
    /// For one frame: the result, upright and scaled. For several frames: all frames at full size, one below the other.
    VipsImage *source;
    VipsRegion *region;
    int next_row;
    /// The size of one frame in the source, and in the result.
    int source_width, source_height, width, height;
    int frames;
    /// The buffer for a frame at full size that is scaled afterwards, or NULL.
    uint8_t *page;
    int *delays;
    int delay_count;
    /// Whether the image was cancelled, which is the reason for the failure.
    bool was_cancelled;
};

/// A step is large enough that few rows are computed twice, and small enough for a quick cancellation.
enum { rows_a_step = 16 };

/// Calls only the loaders of these formats, so that no other loader receives data.
static int load(const cimage_request *request, double shrink, VipsImage **image) {
    void *bytes = (void *)request->bytes;
    size_t count = request->count;
    switch (request->format) {
    case CIMAGE_JPEG:
        return vips_jpegload_buffer(
            bytes, count, image, "shrink", (int)shrink, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
            VIPS_FAIL_ON_ERROR, NULL);
    case CIMAGE_PNG:
        return vips_pngload_buffer(
            bytes, count, image, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on", VIPS_FAIL_ON_ERROR, NULL);
    case CIMAGE_GIF:
        return vips_gifload_buffer(
            bytes, count, image, "n", request->frames, "access", VIPS_ACCESS_SEQUENTIAL, "fail_on",
            VIPS_FAIL_ON_ERROR, NULL);
    case CIMAGE_WEBP:
        return vips_webpload_buffer(
            bytes, count, image, "n", request->frames, "scale", 1 / shrink, "access", VIPS_ACCESS_SEQUENTIAL,
            "fail_on", VIPS_FAIL_ON_ERROR, NULL);
    }
    vips_error("CImageDecoding", "unknown format");
    return -1;
}

/// Returns the factor by which the loader may shrink. A factor of two remains for scaling in good quality, as in
/// libvips. The shorter side limits the factor, because libvips stops the process for an image without rows.
static double shrink_on_load(const cimage_request *request, int width, int height) {
    if (request->max_pixel_size == 0 || request->frames > 1) return 1;
    double shrink = (double)VIPS_MAX(width, height) / request->max_pixel_size;
    shrink = VIPS_MIN(shrink, VIPS_MIN(width, height));
    if (request->format == CIMAGE_WEBP) return VIPS_MAX(shrink / 2, 1);
    if (request->format != CIMAGE_JPEG) return 1;
    return shrink >= 16 ? 8 : shrink >= 8 ? 4 : shrink >= 4 ? 2 : 1;
}

/// Returns whether the profile in the file matches the pixels. libvips 8.14 writes outside of its buffers if the number
/// of channels differs, and a hostile file can contain any profile. Profiles for gray change too little to justify the
/// risk.
static bool has_fitting_profile(VipsImage *image) {
    const void *data;
    size_t count;
    if (!vips_image_get_typeof(image, VIPS_META_ICC_NAME)) return false;
    if (vips_image_get_blob(image, VIPS_META_ICC_NAME, &data, &count) || count < 128) return false;
    const char *space = (const char *)data + 16;
    if (image->Type == VIPS_INTERPRETATION_CMYK) return image->Bands == 4 && memcmp(space, "CMYK", 4) == 0;
    bool is_rgb = image->Type == VIPS_INTERPRETATION_sRGB || image->Type == VIPS_INTERPRETATION_RGB16;
    return is_rgb && (image->Bands == 3 || image->Bands == 4) && memcmp(space, "RGB ", 4) == 0;
}

/// Returns whether the color library builds a transform from the profile. A file may contain a damaged profile, which is no reason
/// to refuse the pixels.
static bool has_usable_profile(VipsImage *image) {
    VipsIntent intent = vips_intent_of_profile(image);
    const void *data;
    size_t count;
    VipsImage *pixel = NULL, *next = NULL;
    if (vips_image_get_blob(image, VIPS_META_ICC_NAME, &data, &count)) return false;
    if (vips_black(&pixel, 1, 1, "bands", image->Bands, NULL)) return false;
    int result = vips_cast(pixel, &next, image->BandFmt, NULL);
    if (!vips_step(&pixel, result, next)) return false;
    result = vips_copy(pixel, &next, "interpretation", image->Type, NULL);
    if (!vips_step(&pixel, result, next)) return false;
    vips_image_set_blob_copy(pixel, VIPS_META_ICC_NAME, data, count);
    result = vips_icc_transform(pixel, &next, "srgb", "embedded", TRUE, "intent", intent, NULL);
    bool is_usable = vips_step(&pixel, result, next);
    g_clear_object(&pixel);
    return is_usable;
}

/// Checks for cancellation in steps that need the complete image, such as a rotation.
static void progressed(VipsImage *image, VipsProgress *progress, cimage *self) {
    (void)progress;
    if (!self->request.is_cancelled(self->request.context)) return;
    self->was_cancelled = true;
    vips_image_set_kill(image, TRUE);
}

/// Returns whether libvips has the same interpretation of the headers as the caller, whose limits are otherwise
/// ineffective. The caller counts frames of animations that exceed the canvas, which libvips may ignore.
static bool has_size_of_headers(const cimage_request *request, VipsImage *image) {
    int width = image->Xsize, height = vips_image_get_page_height(image);
    bool may_differ = request->format == CIMAGE_GIF || request->format == CIMAGE_WEBP;
    if (may_differ && width <= request->width && height <= request->height) return true;
    if (width == request->width && height == request->height) return true;
    vips_error("CImageDecoding", "the size differs from the size in the headers");
    return false;
}

static cimage_status load_fitting(cimage *self, cimage_opened *result) {
    if (load(&self->request, 1, &self->source)) return CIMAGE_FAILED;
    if (!has_size_of_headers(&self->request, self->source)) return CIMAGE_FAILED;
    double shrink = shrink_on_load(&self->request, self->source->Xsize, self->source->Ysize);
    if (shrink > 1) {
        g_clear_object(&self->source);
        if (load(&self->request, shrink, &self->source)) return CIMAGE_FAILED;
    }
    // The caller has checked the memory at full size, but not the rotation, which doubles the memory.
    size_t copies = self->request.frames == 1 && vips_image_get_orientation(self->source) > 1 ? 2 : 1;
    result->needed_bytes = (size_t)self->source->Xsize * (size_t)self->source->Ysize * 4 * copies;
    if (result->needed_bytes > self->request.allowed_bytes) return CIMAGE_TOO_LARGE;

    VipsImage *copy = NULL;
    int copied = vips_copy(self->source, &copy, NULL);
    if (!vips_step(&self->source, copied, copy)) return CIMAGE_FAILED;
    if (!has_fitting_profile(self->source) || !has_usable_profile(self->source)) {
        vips_image_remove(self->source, VIPS_META_ICC_NAME);
    }
    // Some steps use additional threads. One thread is enough, because the caller's queue decodes several images in
    // parallel.
    vips_image_set_int(self->source, VIPS_META_CONCURRENCY, 1);
    vips_image_set_progress(self->source, TRUE);
    g_signal_connect(self->source, "eval", G_CALLBACK(progressed), self);
    return CIMAGE_DONE;
}

static void read_timing(cimage *self, cimage_opened *result) {
    int *delays = NULL;
    int count = 0;
    if (vips_image_get_typeof(self->source, "delay") &&
        vips_image_get_array_int(self->source, "delay", &delays, &count) == 0 && count > 0) {
        self->delays = g_memdup2(delays, (size_t)count * sizeof(int));
        self->delay_count = count;
    }
    if (vips_image_get_typeof(self->source, "loop")) vips_image_get_int(self->source, "loop", &result->loops);
}

static bool prepare_one(cimage *self) {
    int size = self->request.max_pixel_size ? self->request.max_pixel_size : VIPS_MAX_COORD;
    if (!vips_to_size(&self->source, size) || !vips_to_rgba(&self->source)) return false;
    self->source_width = self->width = self->source->Xsize;
    self->source_height = self->height = self->source->Ysize;
    return true;
}

/// Prepares the frames of an animation, which are scaled one by one. Scaling one tall image would mix the edges of
/// adjacent frames.
static bool prepare_several(cimage *self) {
    self->source_width = self->width = self->source->Xsize;
    self->source_height = self->height = vips_image_get_page_height(self->source);
    self->frames = self->source->Ysize / self->source_height;
    if (vips_image_get_typeof(self->source, VIPS_META_ICC_NAME)) {
        VipsImage *next = NULL;
        int result = vips_icc_transform(
            self->source, &next, "srgb", "embedded", TRUE, "intent", vips_intent_of_profile(self->source), NULL);
        if (!vips_step(&self->source, result, next)) return false;
    }
    if (!vips_to_rgba(&self->source)) return false;
    int longer = VIPS_MAX(self->width, self->height);
    int size = self->request.max_pixel_size;
    if (size == 0 || longer <= size) return true;
    self->width = VIPS_MAX(1, (int)VIPS_RINT((double)self->width * size / longer));
    self->height = VIPS_MAX(1, (int)VIPS_RINT((double)self->height * size / longer));
    self->page = g_try_malloc((size_t)self->source_width * (size_t)self->source_height * 4);
    return self->page != NULL;
}

cimage_status cimage_open(const cimage_request *request, cimage_opened *result) {
    memset(result, 0, sizeof *result);
    vips_call_span span;
    if (!vips_begin(&span)) return CIMAGE_FAILED;
    cimage *self = g_new0(cimage, 1);
    self->span = span;
    self->request = *request;
    self->frames = 1;
    cimage_status status = load_fitting(self, result);
    if (status == CIMAGE_DONE) {
        read_timing(self, result);
        bool prepared = request->frames == 1 ? prepare_one(self) : prepare_several(self);
        if (!prepared || vips_image_pio_input(self->source)) status = CIMAGE_FAILED;
    }
    if (status == CIMAGE_DONE && (self->region = vips_region_new(self->source)) == NULL) status = CIMAGE_FAILED;
    if (status != CIMAGE_DONE) {
        if (self->was_cancelled) status = CIMAGE_CANCELLED;
        if (status == CIMAGE_FAILED) result->message = vips_message(&self->span);
        cimage_close(self);
        return status;
    }
    result->image = self;
    result->width = self->width;
    result->height = self->height;
    result->frames = self->frames;
    return CIMAGE_DONE;
}

int cimage_milliseconds(const cimage *self, int frame) {
    return frame < self->delay_count ? self->delays[frame] : 0;
}

/// Computes rows on the calling thread, which needs no additional thread and can stop after each step.
static cimage_status read_rows(
    const cimage_request *request, VipsRegion *region, int first, int count, uint8_t *pixels) {
    size_t row_bytes = (size_t)region->im->Xsize * 4;
    for (int row = 0; row < count; row += rows_a_step) {
        if (request && request->is_cancelled(request->context)) return CIMAGE_CANCELLED;
        VipsRect step = {0, first + row, region->im->Xsize, VIPS_MIN(rows_a_step, count - row)};
        if (vips_region_prepare(region, &step)) return CIMAGE_FAILED;
        for (int y = 0; y < step.height; y++) {
            memcpy(pixels + (size_t)(row + y) * row_bytes, VIPS_REGION_ADDR(region, 0, step.top + y), row_bytes);
        }
    }
    return CIMAGE_DONE;
}

static cimage_status scale(
    const cimage_request *request, const uint8_t *pixels, int width, int height, uint8_t *scaled, int scaled_width,
    int scaled_height) {
    VipsImage *image =
        vips_image_new_from_memory(pixels, (size_t)width * (size_t)height * 4, width, height, 4, VIPS_FORMAT_UCHAR);
    if (image == NULL) return CIMAGE_FAILED;
    vips_image_set_int(image, VIPS_META_CONCURRENCY, 1);
    image->Type = VIPS_INTERPRETATION_sRGB;
    VipsImage *next = NULL;
    int result = vips_thumbnail_image(
        image, &next, scaled_width, "height", scaled_height, "size", VIPS_SIZE_FORCE, NULL);
    cimage_status status = CIMAGE_FAILED;
    if (vips_step(&image, result, next) && vips_to_rgba(&image) && image->Xsize == scaled_width &&
        image->Ysize == scaled_height && vips_image_pio_input(image) == 0) {
        VipsRegion *region = vips_region_new(image);
        if (region) status = read_rows(request, region, 0, scaled_height, scaled);
        g_clear_object(&region);
    }
    g_clear_object(&image);
    return status;
}

cimage_status cimage_read(cimage *self, uint8_t *pixels, char **message) {
    *message = NULL;
    uint8_t *target = self->page ? self->page : pixels;
    cimage_status status = read_rows(&self->request, self->region, self->next_row, self->source_height, target);
    self->next_row += self->source_height;
    if (status == CIMAGE_DONE && self->page) {
        status = scale(
            &self->request, self->page, self->source_width, self->source_height, pixels, self->width, self->height);
    }
    if (self->was_cancelled) status = CIMAGE_CANCELLED;
    if (status == CIMAGE_FAILED) *message = vips_message(&self->span);
    return status;
}

void cimage_close(cimage *self) {
    g_clear_object(&self->region);
    g_clear_object(&self->source);
    g_free(self->page);
    g_free(self->delays);
    g_free(self);
    vips_end();
}

cimage_status cimage_scale(
    const uint8_t *pixels, int width, int height, uint8_t *scaled, int scaled_width, int scaled_height,
    char **message) {
    *message = NULL;
    vips_call_span span;
    if (!vips_begin(&span)) return CIMAGE_FAILED;
    cimage_status status = scale(NULL, pixels, width, height, scaled, scaled_width, scaled_height);
    if (status == CIMAGE_FAILED) *message = vips_message(&span);
    vips_end();
    return status;
}
#else
// ISO C forbids an empty translation unit.
typedef int cimage_nothing_here;
#endif
