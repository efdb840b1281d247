// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/offscreen.h"

#include <dlfcn.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include "core/error.h"
#include "core/text.h"

struct LithoOffscreen {
    EGLDisplay display;
    EGLContext context;
    int width, height;
    guint framebuffer, color, depth;          // drawn into; multisampled when asked for
    guint resolve_framebuffer, resolve_color; // 0 without multisampling
};

// libepoxy ends the process when a library is missing: look before it does.
static gboolean can_load(const char *first, const char *second)
{
    void *handle = dlopen(first, RTLD_LAZY);
    if (!handle && second)
        handle = dlopen(second, RTLD_LAZY);
    return handle != NULL; // stays loaded: it will be used
}

static gboolean try_display(LithoOffscreen *o, EGLDisplay display)
{
    static const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION,
                                        3,
                                        EGL_CONTEXT_MINOR_VERSION,
                                        2,
                                        EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                        EGL_NONE};
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, NULL, NULL))
        return FALSE;
    if (!epoxy_has_egl_extension(display, "EGL_KHR_surfaceless_context") ||
        !eglBindAPI(EGL_OPENGL_API))
        return FALSE;
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT)
        return FALSE;
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) {
        eglDestroyContext(display, context);
        return FALSE;
    }
    o->display = display;
    o->context = context;
    return TRUE;
}

// Mesa's surfaceless platform first (works everywhere Mesa does), then the machine's EGL devices.
static gboolean open_context(LithoOffscreen *o)
{
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless") &&
        try_display(
            o, eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL)))
        return TRUE;
    EGLDeviceEXT devices[16];
    EGLint n = 0;
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
        epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
        eglQueryDevicesEXT(G_N_ELEMENTS(devices), devices, &n))
        for (EGLint k = 0; k < n; k++)
            if (try_display(o, eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[k], NULL)))
                return TRUE;
    return FALSE;
}

static guint make_renderbuffer(GLenum format, int samples, int width, int height)
{
    guint name;
    glGenRenderbuffers(1, &name);
    glBindRenderbuffer(GL_RENDERBUFFER, name);
    if (samples > 1)
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, width, height);
    else
        glRenderbufferStorage(GL_RENDERBUFFER, format, width, height);
    return name;
}

static gboolean make_framebuffers(LithoOffscreen *o, int samples, GError **error)
{
    GLint most = 0, most_samples = 0;
    glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
    glGetIntegerv(GL_MAX_SAMPLES, &most_samples);
    samples = MIN(samples, most_samples);
    if (o->width > most || o->height > most) {
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
            _("a picture of %d x %d pixels was asked for; this OpenGL draws %d x %d at most"),
            o->width, o->height, most, most);
        return FALSE;
    }
    o->color = make_renderbuffer(GL_RGBA8, samples, o->width, o->height);
    o->depth = make_renderbuffer(GL_DEPTH_COMPONENT24, samples, o->width, o->height);
    if (samples > 1) {
        o->resolve_color = make_renderbuffer(GL_RGBA8, 0, o->width, o->height);
        glGenFramebuffers(1, &o->resolve_framebuffer);
        glBindFramebuffer(GL_FRAMEBUFFER, o->resolve_framebuffer);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                                  o->resolve_color);
    }
    glGenFramebuffers(1, &o->framebuffer);
    glBindFramebuffer(GL_FRAMEBUFFER, o->framebuffer);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, o->color);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, o->depth);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                    _("OpenGL refuses a framebuffer of %d x %d pixels"), o->width, o->height);
        return FALSE;
    }
    glViewport(0, 0, o->width, o->height);
    return TRUE;
}

LithoOffscreen *litho_offscreen_new(int width, int height, int samples, GError **error)
{
    if (!can_load("libEGL.so.1", NULL) || !can_load("libOpenGL.so.0", "libGL.so.1")) {
        g_set_error(
            error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
            _("this machine has no EGL or OpenGL library; pictures of the 3-D scene need one"));
        return NULL;
    }
    LithoOffscreen *o = g_new0(LithoOffscreen, 1);
    o->width = MAX(width, 1);
    o->height = MAX(height, 1);
    if (!open_context(o)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_UNSUPPORTED,
                    _("no OpenGL 3.2 without a display on this machine; Mesa's or the graphics "
                      "card's EGL is needed"));
        g_free(o);
        return NULL;
    }
    if (!make_framebuffers(o, samples, error)) {
        litho_offscreen_free(o);
        return NULL;
    }
    return o;
}

void litho_offscreen_free(LithoOffscreen *o)
{
    if (!o)
        return;
    if (eglMakeCurrent(o->display, EGL_NO_SURFACE, EGL_NO_SURFACE, o->context)) {
        glDeleteFramebuffers(1, &o->framebuffer);
        glDeleteFramebuffers(1, &o->resolve_framebuffer);
        const guint buffers[3] = {o->color, o->depth, o->resolve_color};
        glDeleteRenderbuffers(3, buffers);
        eglMakeCurrent(o->display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    }
    // The display is shared with whoever else in this process uses it: not terminated.
    eglDestroyContext(o->display, o->context);
    g_free(o);
}

gboolean litho_offscreen_bind(LithoOffscreen *o, GError **error)
{
    if (!eglMakeCurrent(o->display, EGL_NO_SURFACE, EGL_NO_SURFACE, o->context)) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_DEVICE,
                    _("the off-screen OpenGL context was lost (EGL error 0x%x)"), eglGetError());
        return FALSE;
    }
    glBindFramebuffer(GL_FRAMEBUFFER, o->framebuffer);
    return TRUE;
}

cairo_surface_t *litho_offscreen_read(LithoOffscreen *o)
{
    guint from = o->framebuffer;
    if (o->resolve_framebuffer) {
        glBindFramebuffer(GL_READ_FRAMEBUFFER, o->framebuffer);
        glBindFramebuffer(GL_DRAW_FRAMEBUFFER, o->resolve_framebuffer);
        glBlitFramebuffer(0, 0, o->width, o->height, 0, 0, o->width, o->height, GL_COLOR_BUFFER_BIT,
                          GL_NEAREST);
        from = o->resolve_framebuffer;
    }
    g_autofree guint8 *rgba = g_malloc((gsize)o->width * o->height * 4);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from);
    glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
    glPixelStorei(GL_PACK_ALIGNMENT, 4);
    glReadPixels(0, 0, o->width, o->height, GL_RGBA, GL_UNSIGNED_BYTE, rgba);
    glBindFramebuffer(GL_FRAMEBUFFER, o->framebuffer);

    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, o->width, o->height);
    guint8 *data = cairo_image_surface_get_data(surface);
    int stride = cairo_image_surface_get_stride(surface);
    cairo_surface_flush(surface);
    for (int y = 0; y < o->height; y++) {
        const guint8 *p = rgba + (gsize)(o->height - 1 - y) * o->width * 4;
        guint32 *out = (guint32 *)(data + (gsize)y * stride);
        for (int x = 0; x < o->width; x++, p += 4)
            out[x] = 0xff000000u | (guint32)p[0] << 16 | (guint32)p[1] << 8 | p[2];
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}
