// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synth/synth.h"

#include <string.h>

#include "core/synth/synth_parts.h"
#include "core/text.h"

static const LithoSynth *const synths[] = {
    &litho_synth_survey,   &litho_synth_mix,   &litho_synth_planes, &litho_synth_curved,
    &litho_synth_conflict, &litho_synth_fault, &litho_synth_models, NULL,
};

const LithoSynth *const *litho_synths(void)
{
    return synths;
}

const LithoSynth *litho_synth_find(const char *key)
{
    for (const LithoSynth *const *s = synths; *s; s++)
        if (strcmp((*s)->key, key) == 0)
            return *s;
    return NULL;
}

LithoCube *litho_synth_demo(LithoRun *run, LithoCube **truth, GError **error)
{
    g_autofree void *params = g_malloc0(litho_synth_survey.params.size);
    litho_param_defaults(&litho_synth_survey.params, params);
    LithoCube *cube = NULL;
    if (!litho_synth_survey.make(params, run, &cube, truth, NULL, error))
        return NULL;
    g_strlcpy(cube->name, "demo survey", sizeof cube->name);
    return cube;
}
