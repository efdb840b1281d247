// SPDX-License-Identifier: GPL-3.0-or-later
#include "render/cover.h"

static void remove_at(LithoCover *cover, guint k)
{
    cover->box[k] = cover->box[--cover->n];
}

// TRUE when a and b agree on two axes and touch or overlap on the third: their union is a box.
static gboolean joins(LithoBox a, LithoBox b)
{
    int different = -1;
    for (int k = 0; k < 3; k++) {
        if (a.lo[k] == b.lo[k] && a.hi[k] == b.hi[k])
            continue;
        if (different >= 0)
            return FALSE;
        different = k;
    }
    return different < 0 ||
           (a.lo[different] <= b.hi[different] && b.lo[different] <= a.hi[different]);
}

static gboolean one_contains(const LithoCover *cover, LithoBox box)
{
    for (guint k = 0; k < cover->n; k++)
        if (litho_box_contains(cover->box[k], box))
            return TRUE;
    return FALSE;
}

void litho_cover_add(LithoCover *cover, LithoBox box)
{
    if (litho_box_empty(box) || one_contains(cover, box))
        return;
    for (guint k = 0; k < cover->n;) {
        if (litho_box_contains(box, cover->box[k])) {
            remove_at(cover, k);
        } else if (joins(box, cover->box[k])) {
            box = litho_box_union(box, cover->box[k]);
            remove_at(cover, k);
            k = 0; // the grown box may join with one that was passed over
        } else {
            k++;
        }
    }
    if (cover->n == LITHO_COVER_MAX) {
        guint smallest = 0;
        for (guint k = 1; k < cover->n; k++)
            if (litho_box_count(cover->box[k]) < litho_box_count(cover->box[smallest]))
                smallest = k;
        if (litho_box_count(cover->box[smallest]) >= litho_box_count(box))
            return;
        remove_at(cover, smallest);
    }
    cover->box[cover->n++] = box;
}

void litho_cover_subtract(LithoCover *cover, LithoBox box)
{
    LithoCover left = {0};
    for (guint k = 0; k < cover->n; k++) {
        LithoBox rest = cover->box[k], hole = litho_box_intersect(rest, box);
        if (litho_box_empty(hole)) {
            litho_cover_add(&left, rest);
            continue;
        }
        // Cut off what lies before and behind the hole, axis by axis; what remains is the hole.
        for (int axis = 0; axis < 3; axis++) {
            LithoBox before = rest, behind = rest;
            before.hi[axis] = hole.lo[axis];
            behind.lo[axis] = hole.hi[axis];
            litho_cover_add(&left, before);
            litho_cover_add(&left, behind);
            rest.lo[axis] = hole.lo[axis];
            rest.hi[axis] = hole.hi[axis];
        }
    }
    *cover = left;
}

gboolean litho_cover_contains(const LithoCover *cover, LithoBox box)
{
    if (one_contains(cover, box))
        return TRUE;
    LithoCover rest = {.n = 1, .box = {box}};
    for (guint k = 0; k < cover->n && rest.n > 0; k++) {
        litho_cover_subtract(&rest, cover->box[k]);
        if (rest.n == LITHO_COVER_MAX)
            return FALSE; // pieces may have been forgotten: rather fill again
    }
    return rest.n == 0;
}

void litho_cover_clear(LithoCover *cover)
{
    cover->n = 0;
}
