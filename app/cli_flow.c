// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli_flow.h"

#include "core/error.h"

static LithoFlow *named_flow(const char *word, GError **error)
{
    const LithoOperator *op = litho_operator_find(word);
    if (op) {
        LithoFlow *flow = litho_flow_new();
        litho_flow_append(flow, op);
        return flow;
    }
    if (word[0] == '{')
        return litho_flow_parse(word, error);
    if (g_file_test(word, G_FILE_TEST_EXISTS))
        return litho_flow_load(word, error);
    g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                "'%s' is neither an operator (see 'lithoscope-cli list') nor a recipe file", word);
    return NULL;
}

LithoFlow *litho_cli_flow(char **words, LithoCliFiles *files, gboolean wants_out, GError **error)
{
    g_autoptr(LithoFlow) flow = named_flow(words[0], error);
    if (!flow)
        return NULL;
    const LithoOperator *op = litho_flow_length(flow) ? litho_flow_step(flow, 0)->op : NULL;
    g_autofree char **bare = litho_cli_settings(op ? &op->params : NULL, words + 1);
    if (words[1] && litho_flow_length(flow) != 1) {
        g_set_error(error, LITHO_ERROR, LITHO_ERROR_PARAMETER,
                    "settings such as %s can change a recipe of one step; this one has %u",
                    words[1], litho_flow_length(flow));
        return NULL;
    }
    for (char **word = words + 1; *word; word++)
        if (!litho_operator_set(op, litho_flow_step(flow, 0)->params, *word, error))
            return NULL;
    if (!litho_cli_files_add(files, bare, op && !op->needs_input ? 0 : G_MAXUINT, wants_out, error))
        return NULL;
    return g_steal_pointer(&flow);
}

gboolean litho_cli_device(const char *backend, LithoDevice *device, GError **error)
{
    return litho_device_parse(backend ? backend : "auto", device, error);
}
