// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/flow_check.h"

#include "core/walk.h"

struct LithoFlowCheck {
    char *problem;
    gboolean of_file; // `problem` is of a file, which the worker tries again
    gboolean waits;
    LithoGrid out;
};

LithoFlowCheck *litho_flow_check_new(void)
{
    return g_new0(LithoFlowCheck, 1);
}

void litho_flow_check_free(LithoFlowCheck *check)
{
    if (!check)
        return;
    g_free(check->problem);
    g_free(check);
}

static void set_problem(LithoFlowCheck *check, const GError *error, gboolean of_file)
{
    g_free(check->problem);
    check->problem = error ? g_strdup(error->message) : NULL;
    check->of_file = error && of_file;
}

gboolean litho_flow_check_look(LithoFlowCheck *check, const LithoFlow *flow, const LithoGrid *in)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LithoWalk) walk = litho_walk_look(flow, in, &error);
    check->waits = walk && walk->waits;
    if (check->waits && check->of_file)
        return FALSE; // the sentence about the file stays until it has been tried again
    set_problem(check, error, FALSE);
    if (!walk || check->waits)
        return FALSE;
    gboolean reshaped = !litho_grid_matches(&walk->out, &check->out);
    check->out = walk->out;
    return reshaped;
}

void litho_flow_check_refuse(LithoFlowCheck *check, const GError *error)
{
    set_problem(check, error, TRUE);
}

const char *litho_flow_check_problem(const LithoFlowCheck *check)
{
    return check->problem;
}

gboolean litho_flow_check_is_hopeless(const LithoFlowCheck *check)
{
    return check->problem && !check->of_file;
}

gboolean litho_flow_check_waits(const LithoFlowCheck *check)
{
    return check->waits;
}

const LithoGrid *litho_flow_check_out(const LithoFlowCheck *check)
{
    return &check->out;
}
