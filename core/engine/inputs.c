// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/engine/inputs.h"

#include <sys/stat.h>

#include "core/io/output.h"
#include "core/resolve.h"

struct LithoInputs {
    GArray *ids; // of LithoFileId, each held once
};

LithoInputs *litho_inputs_new(void)
{
    LithoInputs *inputs = g_new0(LithoInputs, 1);
    inputs->ids = g_array_new(FALSE, FALSE, sizeof(LithoFileId));
    return inputs;
}

void litho_inputs_add(LithoInputs *inputs, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0 || (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return;
    const LithoFileId id = {info.st_dev, info.st_ino};
    litho_input_hold(id);
    g_array_append_val(inputs->ids, id);
}

static void add_step(LithoInputs *inputs, const LithoStep *step)
{
    const LithoParamTable *table = &step->op->params;
    for (guint k = 0; k < table->n; k++) {
        const LithoParam *row = &table->rows[k];
        if (!litho_param_is_read(table, row, step->params))
            continue;
        g_autofree char *path = litho_param_print(row, step->params);
        litho_inputs_add(inputs, path); // a number or the name of a built-in model is no file
    }
    g_autoptr(LithoResolved) known = litho_resolve_known(step->op, step->params);
    g_auto(GStrv) files = known ? litho_resolved_files(known) : NULL;
    for (char **file = files; file && *file; file++)
        litho_inputs_add(inputs, *file);
}

void litho_inputs_add_flow(LithoInputs *inputs, const LithoFlow *flow)
{
    for (guint k = 0; k < litho_flow_length(flow); k++)
        add_step(inputs, &g_array_index(flow->steps, LithoStep, k));
}

void litho_inputs_free(LithoInputs *inputs)
{
    if (!inputs)
        return;
    for (guint k = 0; k < inputs->ids->len; k++)
        litho_input_release(g_array_index(inputs->ids, LithoFileId, k));
    g_array_unref(inputs->ids);
    g_free(inputs);
}
