// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/middle.h"

struct LithoMiddle {
    GtkWidget *overlay, *stack, *canvas, *map;
    LithoStartPage *start;
    int one_section; // the view that was maximised because the file is a line; -1 = it is none
};

static GtkWidget *make_map(void)
{
    GtkWidget *map = litho_survey_map_new();
    gtk_widget_add_css_class(map, "litho-scan-map");
    gtk_widget_set_size_request(map, 240, 180);
    gtk_widget_set_halign(map, GTK_ALIGN_END);
    gtk_widget_set_valign(map, GTK_ALIGN_END);
    gtk_widget_set_can_target(map, FALSE);
    gtk_widget_set_visible(map, FALSE);
    return map;
}

LithoMiddle *litho_middle_new(LithoSession *session, LithoJudgement *judgement)
{
    LithoMiddle *middle = g_new0(LithoMiddle, 1);
    middle->one_section = -1;
    middle->stack = gtk_stack_new();
    gtk_stack_set_hhomogeneous(GTK_STACK(middle->stack), FALSE); // the views may be narrower than
    gtk_stack_set_vhomogeneous(GTK_STACK(middle->stack), FALSE); // the start page
    middle->canvas = litho_canvas_new(session, judgement);
    middle->start = litho_start_page_new();
    gtk_stack_add_named(GTK_STACK(middle->stack), litho_start_page_widget(middle->start), "start");
    gtk_stack_add_named(GTK_STACK(middle->stack), middle->canvas, "canvas");
    gtk_widget_set_vexpand(middle->stack, TRUE);
    gtk_widget_set_hexpand(middle->stack, TRUE);
    middle->overlay = gtk_overlay_new();
    middle->map = make_map();
    gtk_overlay_set_child(GTK_OVERLAY(middle->overlay), middle->stack);
    gtk_overlay_add_overlay(GTK_OVERLAY(middle->overlay), middle->map);
    return middle;
}

void litho_middle_free(LithoMiddle *middle)
{
    g_free(middle);
}

GtkWidget *litho_middle_widget(const LithoMiddle *middle)
{
    return middle->overlay;
}

LithoCanvas *litho_middle_canvas(const LithoMiddle *middle)
{
    return LITHO_CANVAS(middle->canvas);
}

LithoStartPage *litho_middle_start(const LithoMiddle *middle)
{
    return middle->start;
}

LithoSurveyMap *litho_middle_map(const LithoMiddle *middle)
{
    return LITHO_SURVEY_MAP(middle->map);
}

void litho_middle_show_views(LithoMiddle *middle, gboolean views)
{
    gtk_stack_set_visible_child_name(GTK_STACK(middle->stack), views ? "canvas" : "start");
}

// The section that a line is; -1: the grid is no line.
static int section_of(const LithoGrid *grid)
{
    return grid->axis[LITHO_INLINE].n == 1  ? LITHO_INLINE
           : grid->axis[LITHO_XLINE].n == 1 ? LITHO_XLINE
                                            : -1;
}

void litho_middle_follow_section(LithoMiddle *middle, const LithoGrid *grid)
{
    const int shown = litho_canvas_maximised(LITHO_CANVAS(middle->canvas));
    if (middle->one_section >= 0 && shown == middle->one_section && section_of(grid) != shown)
        litho_middle_show_section(middle, grid);
}

void litho_middle_show_section(LithoMiddle *middle, const LithoGrid *grid)
{
    LithoCanvas *canvas = LITHO_CANVAS(middle->canvas);
    const int only = section_of(grid);
    if (only >= 0 ||
        (middle->one_section >= 0 && litho_canvas_maximised(canvas) == middle->one_section))
        litho_canvas_maximise(canvas, only);
    middle->one_section = only;
}
