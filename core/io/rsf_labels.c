// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/rsf_labels.h"

#include <string.h>

typedef struct Label {
    const char *word;
    LithoRsfLabel kind;
    LithoAxisCounts counts;
} Label;

// Half offsets count traces: their numbers are no offsets.
static const Label labels[] = {
    {"inline", LITHO_LABEL_INLINE, LITHO_COUNTS_LINES},
    {"in-line", LITHO_LABEL_INLINE, LITHO_COUNTS_LINES},
    {"iline", LITHO_LABEL_INLINE, LITHO_COUNTS_LINES},
    {"il", LITHO_LABEL_INLINE, LITHO_COUNTS_LINES},
    {"crossline", LITHO_LABEL_XLINE, LITHO_COUNTS_LINES},
    {"cross-line", LITHO_LABEL_XLINE, LITHO_COUNTS_LINES},
    {"xline", LITHO_LABEL_XLINE, LITHO_COUNTS_LINES},
    {"xl", LITHO_LABEL_XLINE, LITHO_COUNTS_LINES},
    {"cdp", LITHO_LABEL_COUNTS, LITHO_COUNTS_CDPS},
    {"cmp", LITHO_LABEL_COUNTS, LITHO_COUNTS_CDPS},
    {"midpoint", LITHO_LABEL_COUNTS, LITHO_COUNTS_CDPS},
    {"shot", LITHO_LABEL_COUNTS, LITHO_COUNTS_SHOTS},
    {"source", LITHO_LABEL_COUNTS, LITHO_COUNTS_SHOTS},
    {"channel", LITHO_LABEL_COUNTS, LITHO_COUNTS_CHANNELS},
    {"receiver", LITHO_LABEL_COUNTS, LITHO_COUNTS_CHANNELS},
    {"offset", LITHO_LABEL_COUNTS, LITHO_COUNTS_OFFSETS},
    {"half-offset", LITHO_LABEL_COUNTS, LITHO_COUNTS_TRACES},
    {"half", LITHO_LABEL_COUNTS, LITHO_COUNTS_TRACES},
    {"trace", LITHO_LABEL_COUNTS, LITHO_COUNTS_TRACES},
    {"x", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"y", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"line", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"lateral", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"distance", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"position", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"location", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"horizontal", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"east", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
    {"north", LITHO_LABEL_NONE, LITHO_COUNTS_LINES},
};

// The first word of the label is that word or its plural.
static gboolean begins_with(const char *label, const char *word)
{
    const gsize n = strlen(word);
    if (g_ascii_strncasecmp(label, word, n) != 0)
        return FALSE;
    const char *rest = label + n + (label[n] == 's' || label[n] == 'S');
    return !g_ascii_isalpha(*rest) && *rest != '-';
}

LithoRsfLabel litho_rsf_label_read(const char *label, LithoAxisCounts *counts)
{
    while (label && g_ascii_isspace(*label))
        label++;
    if (!label || !*label)
        return LITHO_LABEL_NONE;
    for (guint k = 0; k < G_N_ELEMENTS(labels); k++)
        if (begins_with(label, labels[k].word)) {
            *counts = labels[k].counts;
            return labels[k].kind;
        }
    return LITHO_LABEL_UNKNOWN;
}

const char *litho_rsf_label(const LithoGrid *grid, int axis)
{
    switch (grid->axis[axis].counts) {
    case LITHO_COUNTS_CDPS:
        return "CDP";
    case LITHO_COUNTS_SHOTS:
        return "Shot";
    case LITHO_COUNTS_CHANNELS:
        return "Channel";
    case LITHO_COUNTS_OFFSETS:
        return "Offset";
    case LITHO_COUNTS_TRACES:
        return "Trace";
    case LITHO_COUNTS_LINES:
        break;
    }
    return axis == LITHO_XLINE ? "Crossline" : "Inline";
}
