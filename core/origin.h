// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <glib.h>

// The opened file that a cube's traces came from, as far as a cube needs to know it: something that
// is counted. It is the first member of LithoSurvey (core/io/survey.h), so that the ground floor
// holds a survey without knowing what one is. Thread-safety: any thread.
typedef struct LithoOrigin {
    gint refs;                // atomic; 1 for whoever made it
    void (*free)(gpointer o); // with the last reference
    gboolean in_feet;         // the file says that its lengths are
} LithoOrigin;

static inline gpointer litho_origin_ref(gpointer origin)
{
    g_atomic_int_inc(&((LithoOrigin *)origin)->refs);
    return origin;
}

// NULL is fine.
static inline void litho_origin_unref(gpointer origin)
{
    LithoOrigin *o = origin;
    if (o && g_atomic_int_dec_and_test(&o->refs))
        o->free(o);
}
