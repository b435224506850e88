#ifdef IMAGES
#include "Vips.h"

static bool is_opaque(const cimage_drawing *drawing) {
    size_t count = (size_t)drawing->width * (size_t)drawing->height * (size_t)drawing->frames;
    for (size_t index = 0; index < count; index++) {
        if (drawing->pixels[4 * index + 3] != 255) return false;
    }
    return true;
}

/// Removes an alpha channel that is fully opaque. JPEG has no alpha, so transparent pixels get a white background.
static bool drop_alpha(VipsImage **image, const cimage_drawing *drawing) {
    VipsImage *next = NULL;
    int result;
    if (is_opaque(drawing)) {
        result = vips_extract_band(*image, &next, 0, "n", 3, NULL);
    } else if (drawing->format == CIMAGE_JPEG) {
        VipsArrayDouble *white = vips_array_double_newv(3, 255.0, 255.0, 255.0);
        result = vips_flatten(*image, &next, "background", white, NULL);
        vips_area_unref(VIPS_AREA(white));
    } else {
        return true;
    }
    return vips_step(image, result, next);
}

static bool set_metadata(VipsImage **image, const cimage_drawing *drawing) {
    VipsImage *copy = NULL;
    int result = vips_copy(*image, &copy, "interpretation", VIPS_INTERPRETATION_sRGB, NULL);
    if (!vips_step(image, result, copy)) return false;
    vips_image_set_int(*image, VIPS_META_CONCURRENCY, 1);
    if (drawing->frames > 1) {
        vips_image_set_int(*image, VIPS_META_PAGE_HEIGHT, drawing->height);
        vips_image_set_int(*image, "loop", drawing->loops);
        vips_image_set_array_int(*image, "delay", drawing->milliseconds, drawing->frames);
    }
    return true;
}

static int save(VipsImage *image, const cimage_drawing *drawing, void **bytes, size_t *count) {
    switch (drawing->format) {
    case CIMAGE_JPEG:
        return vips_jpegsave_buffer(image, bytes, count, "Q", drawing->quality, "optimize_coding", TRUE, "strip", TRUE, NULL);
    case CIMAGE_PNG: return vips_pngsave_buffer(image, bytes, count, "strip", TRUE, NULL);
    case CIMAGE_GIF: return vips_gifsave_buffer(image, bytes, count, NULL);
    case CIMAGE_WEBP: return vips_webpsave_buffer(image, bytes, count, "Q", drawing->quality, "strip", TRUE, NULL);
    }
    vips_error("CImageDecoding", "unknown format");
    return -1;
}

cimage_status cimage_encode(const cimage_drawing *drawing, void **bytes, size_t *count, char **message) {
    *bytes = NULL;
    *message = NULL;
    vips_call_span span;
    if (!vips_begin(&span)) return CIMAGE_FAILED;
    size_t size = (size_t)drawing->width * (size_t)drawing->height * (size_t)drawing->frames * 4;
    VipsImage *image = vips_image_new_from_memory(
        drawing->pixels, size, drawing->width, drawing->height * drawing->frames, 4, VIPS_FORMAT_UCHAR);
    bool saved = image && set_metadata(&image, drawing) && drop_alpha(&image, drawing) &&
                 save(image, drawing, bytes, count) == 0;
    if (!saved) *message = vips_message(&span);
    g_clear_object(&image);
    vips_end();
    return saved ? CIMAGE_DONE : CIMAGE_FAILED;
}
#else
// ISO C forbids an empty translation unit.
typedef int cimage_nothing_here;
#endif
