#ifdef IMAGES
#include "Vips.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <vips/vector.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_started;

static void ignore_warning(const char *domain, GLogLevelFlags level, const char *message, void *data) {
    (void)domain, (void)level, (void)message, (void)data;
}

static void start(void) {
    is_started = vips_init("swift-operations") == 0;
    if (!is_started) return;
    // The cache would keep the results of operations, together with sources whose bytes are freed.
    vips_cache_set_max(0);
    // The code that orc generates for scaling (libvips 8.14) reads uninitialized pointers, as Valgrind shows for small
    // and damaged images. Thumbnails take a fifth more time without the generated code.
    vips_vector_set_enabled(FALSE);
    // Damaged images cause warnings, so that a server could fill the log.
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, ignore_warning, NULL);
}

// libvips has one error text for the complete process, to which all threads append. The text certainly belongs to a
// call only if no other call overlapped with it. The lower half counts the running calls, and the upper half counts all
// calls that ever began.
static _Atomic uint64_t calls;
#define ONE_CALL (((uint64_t)1 << 32) + 1)

bool vips_begin(vips_call_span *span) {
    pthread_once(&once, start);
    if (!is_started) return false;
    uint64_t before = atomic_fetch_add(&calls, ONE_CALL);
    span->alone = (uint32_t)before == 0;
    span->start = (before + ONE_CALL) >> 32;
    if (span->alone) vips_error_clear();
    return true;
}

char *vips_message(const vips_call_span *span) {
    if (!span->alone) return NULL;
    char *text = vips_error_buffer_copy();
    // The check follows the copy, because a call that began before the copy may have appended text.
    if (atomic_load(&calls) >> 32 != span->start) {
        g_free(text);
        return NULL;
    }
    return g_strchomp(text);
}

void vips_end(void) {
    // libvips does not own the thread, so that its data for the thread would otherwise remain after the thread ends.
    vips_thread_shutdown();
    atomic_fetch_sub(&calls, 1);
}

void cimage_free(void *memory) { g_free(memory); }

bool vips_step(VipsImage **image, int result, VipsImage *next) {
    g_clear_object(image);
    if (result == 0) *image = next;
    return result == 0;
}

bool vips_to_rgba(VipsImage **image) {
    VipsImage *next = NULL;
    if ((*image)->Type != VIPS_INTERPRETATION_sRGB) {
        int result = vips_colourspace(*image, &next, VIPS_INTERPRETATION_sRGB, NULL);
        if (!vips_step(image, result, next)) return false;
    }
    if ((*image)->BandFmt != VIPS_FORMAT_UCHAR) {
        int result = vips_cast_uchar(*image, &next, NULL);
        if (!vips_step(image, result, next)) return false;
    }
    if ((*image)->Bands == 3) {
        int result = vips_addalpha(*image, &next, NULL);
        if (!vips_step(image, result, next)) return false;
    }
    if ((*image)->Bands == 4) return true;
    vips_error("CImageDecoding", "unexpected number of bands: %d", (*image)->Bands);
    return false;
}

static bool has_tag(const uint8_t *profile, size_t size, const char *name) {
    if (size < 132) return false;
    size_t count = (size_t)profile[128] << 24 | (size_t)profile[129] << 16 | (size_t)profile[130] << 8 | profile[131];
    count = VIPS_MIN(count, (size - 132) / 12);
    for (size_t index = 0; index < count; index++) {
        if (memcmp(profile + 132 + 12 * index, name, 4) == 0) return true;
    }
    return false;
}

VipsIntent vips_intent_of_profile(VipsImage *image) {
    const void *data;
    size_t size;
    if (!vips_image_get_typeof(image, VIPS_META_ICC_NAME)) return VIPS_INTENT_RELATIVE;
    if (vips_image_get_blob(image, VIPS_META_ICC_NAME, &data, &size)) return VIPS_INTENT_RELATIVE;
    // A profile of colorants instead of tables supports every intent.
    if (has_tag(data, size, "A2B1") || has_tag(data, size, "rXYZ")) return VIPS_INTENT_RELATIVE;
    if (has_tag(data, size, "A2B0")) return VIPS_INTENT_PERCEPTUAL;
    return has_tag(data, size, "A2B2") ? VIPS_INTENT_SATURATION : VIPS_INTENT_RELATIVE;
}

bool vips_to_size(VipsImage **image, int size) {
    // An export profile would change the colors of an image that is already sRGB.
    bool has_profile = vips_image_get_typeof(*image, VIPS_META_ICC_NAME) != 0;
    bool is_cmyk = (*image)->Type == VIPS_INTERPRETATION_CMYK && (*image)->Bands == 4;
    VipsImage *next = NULL;
    if (is_cmyk && has_profile) {
        // Before the thumbnail, which in libvips 8.14 converts CMYK by a formula, and applies no profile of the file.
        int converted = vips_icc_transform(
            *image, &next, "srgb", "embedded", TRUE, "intent", vips_intent_of_profile(*image), NULL);
        if (!vips_step(image, converted, next)) return false;
        is_cmyk = has_profile = false;
    }
    bool is_foreign = has_profile || is_cmyk;
    size = VIPS_MIN(size, VIPS_MAX_COORD);
    int result = is_foreign
        ? vips_thumbnail_image(
              *image, &next, size, "height", size, "size", VIPS_SIZE_DOWN, "export_profile", "srgb", "intent",
              vips_intent_of_profile(*image), NULL)
        : vips_thumbnail_image(*image, &next, size, "height", size, "size", VIPS_SIZE_DOWN, NULL);
    return vips_step(image, result, next);
}
#else
// ISO C forbids an empty translation unit.
typedef int cimage_nothing_here;
#endif
