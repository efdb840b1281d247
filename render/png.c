// SPDX-License-Identifier: GPL-3.0-or-later
#include <png.h>
#include <string.h>

#include "core/error.h"
#include "core/text.h"
#include "render/picture.h"

typedef struct Target {
    LithoOutput *output;
    const LithoRun *run; // NULL = cannot be cancelled
    GError *error;       // of the first write that failed, or cancelled
} Target;

typedef struct Failure {
    char sentence[200];
} Failure;

static void on_write(png_structp png, png_bytep bytes, gsize n)
{
    Target *to = png_get_io_ptr(png);
    if (!to->error && !litho_output_write(to->output, bytes, n, &to->error))
        png_error(png, to->error->message);
}

static void on_flush(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp message)
{
    g_strlcpy(((Failure *)png_get_error_ptr(png))->sentence, message, 200);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void set_texts(png_structp png, png_infop info, const char *const *texts)
{
    for (; texts && texts[0] && texts[1]; texts += 2) {
        char key[80]; // 79 Latin-1 characters at most, says the format
        g_strlcpy(key, texts[0], sizeof key);
        png_text text = {.compression = PNG_ITXT_COMPRESSION_NONE,
                         .key = key,
                         .text = (char *)texts[1],
                         .lang = (char *)"",
                         .lang_key = (char *)""};
        png_set_text(png, info, &text, 1);
    }
}

// Everything that may jump; FALSE with the sentence in `failure`.
static gboolean write_rows(Target *to, cairo_surface_t *surface, const char *const *texts,
                           guint8 *row, Failure *failure)
{
    int width = cairo_image_surface_get_width(surface);
    int height = cairo_image_surface_get_height(surface);
    int stride = cairo_image_surface_get_stride(surface);
    const guint8 *data = cairo_image_surface_get_data(surface);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, failure, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return FALSE;
    }
    png_set_write_fn(png, to, on_write, on_flush);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    set_texts(png, info, texts);
    png_write_info(png, info);
    for (int y = 0; y < height; y++) {
        const guint32 *from = (const guint32 *)(data + (gsize)y * stride);
        for (int x = 0; x < width; x++) {
            row[3 * x] = from[x] >> 16;
            row[3 * x + 1] = from[x] >> 8;
            row[3 * x + 2] = from[x];
        }
        if (to->run && !litho_run_checkpoint(to->run)) {
            litho_run_stopped(&to->error);
            png_error(png, to->error->message);
        }
        png_write_row(png, row);
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return TRUE;
}

gboolean litho_png_write(cairo_surface_t *surface, const char *path, const char *const *texts,
                         LithoReplace replace, const LithoRun *run, GError **error)
{
    cairo_surface_flush(surface);
    g_autoptr(LithoOutput) output = litho_output_new(path, replace, error);
    if (!output)
        return FALSE;
    Target to = {.output = output, .run = run};
    Failure failure = {N_("out of memory")};
    g_autofree guint8 *row = g_malloc(3 * (gsize)cairo_image_surface_get_width(surface));
    if (write_rows(&to, surface, texts, row, &failure))
        return litho_output_finish(output, error);
    if (to.error)
        g_propagate_error(error, to.error);
    else
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_FORMAT, _("writing %s failed: %s"), path,
                    litho_text(failure.sentence));
    return FALSE;
}
