// SPDX-License-Identifier: GPL-3.0-or-later
#include <epoxy/gl.h>

#include "render/volume_gl.h"

gboolean litho_volume_read_inline(const LithoVolume *volume, gint64 index, float *samples)
{
    const LithoTile *tile = litho_volume_tile(volume, LITHO_INLINE, index);
    if (!tile || tile->folded)
        return FALSE;
    GLint before = 0;
    GLuint frame = 0;
    glGetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, frame);
    glFramebufferTextureLayer(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, tile->texture, 0,
                              (GLint)(index - tile->box.lo[LITHO_INLINE]));
    gboolean ok = glCheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
    if (ok) {
        glReadBuffer(GL_COLOR_ATTACHMENT0);
        glPixelStorei(GL_PACK_ALIGNMENT, 4);
        glReadPixels(0, 0, (GLsizei)litho_box_size(tile->box, LITHO_SAMPLE),
                     (GLsizei)litho_box_size(tile->box, LITHO_XLINE), GL_RED, GL_FLOAT, samples);
        ok = glGetError() == GL_NO_ERROR;
    }
    glBindFramebuffer(GL_READ_FRAMEBUFFER, (GLuint)before);
    glDeleteFramebuffers(1, &frame);
    return ok;
}
