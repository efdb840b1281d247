// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/result.h"

LithoResult *litho_result_new(LithoDevice device)
{
    LithoResult *result = g_new0(LithoResult, 1);
    result->parts = g_ptr_array_new_with_free_func((GDestroyNotify)litho_cube_unref);
    result->device = device;
    result->refs = 1;
    return result;
}

LithoResult *litho_result_of(LithoCube *whole, LithoReport *report, LithoDevice device)
{
    LithoResult *result = litho_result_new(device);
    g_ptr_array_add(result->parts, litho_cube_ref(whole));
    result->complete = result->all_views = TRUE;
    result->report = report ? litho_report_ref(report) : NULL;
    return result;
}

LithoResult *litho_result_ref(LithoResult *result)
{
    g_atomic_int_inc(&result->refs);
    return result;
}

void litho_result_unref(LithoResult *result)
{
    if (!result || !g_atomic_int_dec_and_test(&result->refs))
        return;
    g_ptr_array_unref(result->parts);
    g_clear_error(&result->error);
    litho_report_unref(result->report);
    g_free(result);
}

// TRUE when a part of an unseen result must not get lost behind `result`.
static gboolean is_needed(LithoCube *part, guint64 tag, const LithoResult *result)
{
    if (g_ptr_array_find(result->parts, part, NULL))
        return FALSE;
    for (guint k = 0; k < result->parts->len; k++) {
        const LithoCube *newer = g_ptr_array_index(result->parts, k);
        if (!litho_grid_same_shape(&newer->grid, &part->grid) ||
            (tag != result->tag && litho_box_contains(newer->held, part->held)))
            return FALSE;
    }
    return TRUE;
}

void litho_result_follow(LithoResult *result, const LithoResult *old)
{
    if (old->complete || result->complete || result->error)
        return;
    for (guint k = 0, at = 0; k < old->parts->len; k++) {
        LithoCube *part = g_ptr_array_index(old->parts, k);
        if (is_needed(part, old->tag, result))
            g_ptr_array_insert(result->parts, at++, litho_cube_ref(part));
    }
}
