// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/device_choice.h"

#include <string.h>

#include "ui/session/newest.h"

struct LithoDeviceChoice {
    void (*known)(gpointer owner);
    gpointer owner;
    LithoNewest *question;
    char *wanted;
    char *missing;      // why the wanted device is not there, or NULL
    LithoDevice device; // that is there
    int n_gpus;
    char *label, *why;    // of the flow taken last
    LithoDevice labelled; // whose name `label` is
};

// --- looking for a device -----------------------------------------------------------------------

static gpointer look(LithoRun *run, gpointer wanted, GError **error)
{
    (void)run;
    LithoDevice device;
    return litho_device_parse(wanted, &device, error) ? g_memdup2(&device, sizeof device) : NULL;
}

static gboolean set_label(LithoDeviceChoice *choice, LithoDevice device, const char *why)
{
    // Asking a GPU for its name waits for its driver, which may be at work for the filter: a slider
    // that asked again with every event stood still for a tenth of a second.
    g_autofree char *label = litho_device_is_same(device, choice->labelled)
                                 ? g_strdup(choice->label)
                                 : litho_device_label(device, 0);
    choice->labelled = device;
    if (g_strcmp0(label, choice->label) == 0 && g_strcmp0(why, choice->why) == 0)
        return FALSE;
    g_free(choice->label);
    g_free(choice->why);
    choice->label = g_steal_pointer(&label);
    choice->why = g_strdup(why);
    return TRUE;
}

static void found(gpointer answer, const GError *error, gpointer wanted, gpointer owner)
{
    LithoDeviceChoice *choice = owner;
    g_autofree LithoDevice *device = answer;
    if (strcmp(wanted, choice->wanted) != 0)
        return; // asked for another one meanwhile
    choice->device = device ? *device : litho_device_cpu();
    if (choice->device.backend != litho_backend_cpu())
        choice->n_gpus = choice->device.backend->n_devices;
    g_free(choice->missing);
    choice->missing = device ? NULL : g_strdup(error->message);
    set_label(choice, choice->device, choice->missing);
    choice->known(choice->owner);
}

void litho_device_choice_ask(LithoDeviceChoice *choice, const char *wanted)
{
    char *copy = g_strdup(wanted); // `wanted` may be the text that goes
    g_free(choice->wanted);
    choice->wanted = copy;
    litho_newest_ask(choice->question, g_strdup(copy));
}

// --- who computes -------------------------------------------------------------------------------

// `why`: taken over by the caller; NULL where it is the device that is there.
static LithoDevice device_for(const LithoDeviceChoice *choice, const LithoFlow *flow, char **why)
{
    for (guint k = 0; k < litho_flow_length(flow); k++) {
        const LithoStep *step = litho_flow_step(flow, k);
        g_autoptr(GError) error = NULL;
        if (step->enabled && !litho_device_impl(choice->device, step->op, &error)) {
            *why = g_strdup(error->message);
            return litho_device_cpu();
        }
    }
    return choice->device;
}

LithoDevice litho_device_choice_for(const LithoDeviceChoice *choice, const LithoFlow *flow)
{
    g_autofree char *why = NULL;
    return device_for(choice, flow, &why);
}

LithoDevice litho_device_choice_take(LithoDeviceChoice *choice, const LithoFlow *flow,
                                     gboolean *changed)
{
    g_autofree char *why = NULL;
    LithoDevice device = device_for(choice, flow, &why);
    // A device that was asked for and is not there is told as well, and stays told.
    *changed = set_label(choice, device, why ? why : choice->missing);
    return device;
}

const char *litho_device_choice_wanted(const LithoDeviceChoice *choice)
{
    return choice->wanted;
}

int litho_device_choice_gpus(const LithoDeviceChoice *choice)
{
    return choice->n_gpus;
}

const char *litho_device_choice_label(const LithoDeviceChoice *choice, const char **why)
{
    if (why)
        *why = choice->why;
    return choice->label;
}

// --- life ---------------------------------------------------------------------------------------

LithoDeviceChoice *litho_device_choice_new(void (*known)(gpointer owner), gpointer owner)
{
    static const LithoNewestFuncs funcs = {look, found, g_free, g_free};
    LithoDeviceChoice *choice = g_new0(LithoDeviceChoice, 1);
    choice->known = known;
    choice->owner = owner;
    choice->question = litho_newest_new(&funcs, choice);
    choice->wanted = g_strdup("cpu");
    choice->device = litho_device_cpu();
    choice->label = litho_device_label(choice->device, 0);
    choice->labelled = choice->device;
    return choice;
}

void litho_device_choice_free(LithoDeviceChoice *choice)
{
    if (!choice)
        return;
    litho_newest_free(choice->question);
    g_free(choice->wanted);
    g_free(choice->missing);
    g_free(choice->label);
    g_free(choice->why);
    g_free(choice);
}
