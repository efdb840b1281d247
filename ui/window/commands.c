// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/commands.h"

#include <string.h>

#include "ui/window/dialog.h"
#include "ui/panel/parts.h"

static const LithoWindowCommand commands[] = {
    {"Compare", "Blink input and output", "win.blink", NULL, "b", TRUE},
    {"Compare", "Show what was removed", "win.removed", NULL, "d", TRUE},
    {"Compare", "Split: input left, output right", "win.split", NULL, "s", TRUE},
    {"Compare", "Similarity of output and removed: where signal leaves", "win.similarity", NULL,
     "l", TRUE, "leak overlay map"},
    {"Compare", "Show the input", "win.show", "'input'", NULL, FALSE},
    {"Compare", "Show the output", "win.show", "'output'", NULL, FALSE},
    {"Compare", "Show input and output side by side", "win.show", "'side'", NULL, FALSE},
    {"Compare", "Compare with the truth beside the file", "win.truth", NULL, "<Control>t", FALSE,
     "known answer reference generated"},
    {"Compare", "Compare with a file", "win.reference", NULL, "<Control><Shift>t", FALSE,
     "truth reference answer SNR error gain"},
    {"Compare", "Forget the reference", "win.reference-forget", NULL, NULL, FALSE},
    {"Colours", "Clip smaller: stronger colours", "win.clip-down", NULL, "bracketleft", TRUE},
    {"Colours", "Clip larger: weaker colours", "win.clip-up", NULL, "bracketright", TRUE},
    {"Colours", "Less gain for the removed part", "win.gain-down", NULL, "braceleft", TRUE},
    {"Colours", "More gain for the removed part", "win.gain-up", NULL, "braceright", TRUE},
    {"Colours", "Next colour map", "win.colours-next", NULL, "c", TRUE},
    {"Colours", "Colour maps by name", "win.colours-menu", NULL, "v", TRUE, "palette viridis grey"},
    {"Colours", "Load a colour map", "win.colours-load", NULL, NULL, FALSE},
    {"Colours", "Wiggles on and off", "win.wiggle", NULL, "w", TRUE},
    {"Colours", "Wiggles without the section", "win.density", NULL, "x", TRUE,
     "variable area density paper"},
    {"Colours", "Automatic gain of the picture", "win.agc", NULL, "g", TRUE, "AGC display balance"},
    {"Colours", "Gain of the picture with time: none, t, t^2", "win.time-gain", NULL, "t", TRUE,
     "spreading display"},
    {"Views", "Velocity over the image: none, faint, strong, alone", "win.medium", NULL, "o", TRUE,
     "overlay opacity model medium"},
    {"Views", "Maximise the inline section", "win.maximise", "0", "1", TRUE},
    {"Views", "Maximise the crossline section", "win.maximise", "1", "2", TRUE},
    {"Views", "Maximise the time slice", "win.maximise", "2", "3", TRUE},
    {"Views", "Maximise the 3-D scene", "win.maximise", "3", "4", TRUE},
    {"Views", "Frequencies of an area: drag it on a section", "win.area", NULL, "f", TRUE,
     "spectrum f-k wavenumber ruler dip"},
    {"Views", "Note the point under the pointer", "win.point", NULL, "n", TRUE,
     "pick measure table"},
    {"Views", "Save the noted points as CSV", "win.points-save", NULL, NULL, FALSE, "picks table"},
    {"Views", "Forget the noted points", "win.points-forget", NULL, NULL, FALSE},
    {"Views", "Data or the operator's model in the 3-D panel", "win.model", NULL, "m", TRUE},
    {"Views", "Times in milliseconds", "win.time-unit", "'ms'", NULL, FALSE},
    {"Views", "Times in seconds", "win.time-unit", "'s'", NULL, FALSE},
    {"Views", "Inlines and crosslines by number", "win.lines", "'numbers'", NULL, FALSE},
    {"Views", "Inlines and crosslines in metres", "win.lines", "'metres'", NULL, FALSE},
    {"Views", "Zoom in", "win.zoom-in", NULL, "plus", TRUE},
    {"Views", "Zoom out", "win.zoom-out", NULL, "minus", TRUE},
    {"Views", "Fit everything", "win.fit", NULL, "0", TRUE},
    {"Views", "Fold the left panel", "win.fold-left", NULL, "F9", FALSE},
    {"Views", "Fold the right panel", "win.fold-right", NULL, "F10", FALSE},
    {"Views", "Full screen", "win.fullscreen", NULL, "F11", FALSE},
    {"File", "Open a cube", "win.open", NULL, "<Control>o", FALSE},
    {"File", "Try the demo", "win.demo", NULL, NULL, FALSE},
    {"File", "Save the result", "win.save", NULL, "<Control>s", FALSE},
    {"File", "Export the picture", "win.picture", NULL, "<Control>e", FALSE,
     "report figure PDF PNG SVG"},
    {"File", "Open a recipe", "win.recipe-open", NULL, NULL, FALSE},
    {"File", "Save the recipe", "win.recipe-save", NULL, NULL, FALSE},
    {"File", "Copy as command", "win.copy-command", NULL, "<Control><Shift>c", FALSE},
    {"File", "Continue where you were", "win.continue", NULL, "<Control><Shift>o", FALSE},
    {"Snapshots", "Keep a snapshot", "win.snapshot", NULL, "k", TRUE, "remember version"},
    {"Snapshots", "Go to snapshot A", "win.snapshot-go", "'A'", "<Alt>1", FALSE},
    {"Snapshots", "Go to snapshot B", "win.snapshot-go", "'B'", "<Alt>2", FALSE},
    {"Snapshots", "Go to snapshot C", "win.snapshot-go", "'C'", "<Alt>3", FALSE},
    {"Snapshots", "Go to snapshot D", "win.snapshot-go", "'D'", "<Alt>4", FALSE},
    {"Snapshots", "Compare with the input", "win.snapshot-compare", "''", "<Control>0", FALSE},
    {"Snapshots", "Compare with snapshot A", "win.snapshot-compare", "'A'", "<Control>1", FALSE},
    {"Snapshots", "Compare with snapshot B", "win.snapshot-compare", "'B'", "<Control>2", FALSE},
    {"Snapshots", "Compare with snapshot C", "win.snapshot-compare", "'C'", "<Control>3", FALSE},
    {"Snapshots", "Compare with snapshot D", "win.snapshot-compare", "'D'", "<Control>4", FALSE},
    {"Flow", "Undo", "win.undo", NULL, "<Control>z", FALSE},
    {"Flow", "Redo", "win.redo", NULL, "<Control><Shift>z", FALSE},
    {"Flow", "Compute all", "win.compute", NULL, "<Control>Return", FALSE},
    {"Flow", "Find better values", "win.find", NULL, "<Control>f", FALSE,
     "suggest optimise automatic SNR best"},
    {"Flow", "Sweep a parameter", "win.sweep", NULL, "<Control>p", FALSE},
    {"Flow", "Race: CPU against GPU", "win.race", NULL, "<Control>r", FALSE,
     "speed-up threads benchmark"},
    {"Demonstrations", "Presenter mode: larger and fewer things", "win.present", NULL, "F5", FALSE,
     "projector beamer lecture"},
    {"Demonstrations", "Play the tour", "win.demo-play", "'tour'", NULL, FALSE,
     "first steps learn"},
    {"Demonstrations", "Play for ever, as in a kiosk", "win.demo-play", "'kiosk'", NULL, FALSE},
    {"Demonstrations", "Open a demonstration", "win.demo-open", NULL, NULL, FALSE, "script"},
    {"Demonstrations", "Record what I do; again: save it", "win.record", NULL, "<Control><Shift>r",
     FALSE, "script macro"},
    {"File", "Survey, headers and how they were read", "win.survey", NULL, "<Control>i", FALSE,
     "report geometry SEG-Y EBCDIC"},
    {"File", "Read the file with other header bytes", "win.import", NULL, "<Control><Shift>i",
     FALSE},
    {"Flow", "Pause and go on", "win.pause", NULL, "p", TRUE},
    {"Flow", "Cancel; leave full screen", "win.cancel", NULL, "Escape", TRUE},
    {"General", "Help", "win.help", NULL, "F1", FALSE},
    {"General", "Keyboard shortcuts", "win.shortcuts", NULL, "<Control>question", FALSE},
    {"General", "Commands and parameters", "win.palette", NULL, "<Control><Shift>p", FALSE},
    {"General", "Appearance: dark", "app.appearance", "'dark'", NULL, FALSE, "theme night mode"},
    {"General", "Appearance: light", "app.appearance", "'light'", NULL, FALSE, "theme bright mode"},
    {"General", "Appearance: follow the system", "app.appearance", "'system'", NULL, FALSE,
     "theme dark light mode"},
    {"General", "Compute on the CPU", "win.device", "'cpu'", NULL, FALSE},
    {"General", "Compute on the GPU", "win.device", "'cuda'", NULL, FALSE},
    {"General", "Compute on all GPUs", "win.device", "'cuda:all'", NULL, FALSE},
    {"General", "About Lithoscope", "win.about", NULL, NULL, FALSE,
     "version licence license credits libraries"},
    {"General", "Close the window", "window.close", NULL, "<Control>w", FALSE},
};

// Keys that the views and the window handle themselves, for the shortcuts window.
static const struct {
    const char *group, *title, *accel;
} fixed[] = {
    {"Compare", "Input, while held", "space"},
    {"Compare", "Move the divider", "Left Right"},
    {"Slices", "Step the slice", "Up Down"},
    {"Slices", "Step ten slices", "<Shift>Up <Shift>Down"},
    {"Slices", "First and last slice", "Home End"},
    {"Slices", "Maximise and restore", "Return"},
    {"Slices", "Turn the 3-D scene", "Left Up"},
    {"Slices", "Move the 3-D scene", "<Shift>Left <Shift>Up"},
    {"Slices", "Drag a boundary of a model", "Page_Up Page_Down"},
    {"Slices", "The model's next boundary", "Insert"},
    {"Demonstrations", "Next and back", "Right Left"},
    {"Demonstrations", "Next and back, with a remote", "Page_Down Page_Up"},
    {"Demonstrations", "Pause and go on", "p"},
    {"Demonstrations", "End: back to where you were", "Escape"},
    {"Flow", "Move the step in the flow", "<Alt>Up <Alt>Down"},
    {"Flow", "Remove the step", "Delete"},
};

const LithoWindowCommand *litho_commands(guint *n)
{
    *n = G_N_ELEMENTS(commands);
    return commands;
}

const LithoWindowCommand *litho_command_for_key(guint key, GdkModifierType state)
{
    if (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK))
        return NULL;
    guint lower = gdk_keyval_to_lower(key);
    if (lower == GDK_KEY_equal || lower == GDK_KEY_KP_Add)
        lower = GDK_KEY_plus; // the same key without Shift
    if (lower == GDK_KEY_KP_Subtract)
        lower = GDK_KEY_minus;
    for (guint k = 0; k < G_N_ELEMENTS(commands); k++)
        if (commands[k].single && gdk_keyval_from_name(commands[k].accel) == lower)
            return &commands[k];
    return NULL;
}

GVariant *litho_command_target(const LithoWindowCommand *command)
{
    return command->target ? g_variant_new_parsed(command->target, NULL) : NULL;
}

void litho_commands_install(GtkApplication *app)
{
    for (guint k = 0; k < G_N_ELEMENTS(commands); k++) {
        const LithoWindowCommand *c = &commands[k];
        if (!c->accel || c->single)
            continue;
        g_autofree char *detailed =
            c->target ? g_strdup_printf("%s(%s)", c->action, c->target) : g_strdup(c->action);
        gtk_application_set_accels_for_action(app, detailed, (const char *[]){c->accel, NULL});
    }
}

// --- shortcuts window ---------------------------------------------------------------------------

static void add_shortcut(GtkWidget *group, const char *title, const char *accel)
{
    GtkWidget *shortcut =
        g_object_new(GTK_TYPE_SHORTCUTS_SHORTCUT, "title", title, "accelerator", accel, NULL);
    gtk_box_append(GTK_BOX(group), shortcut);
}

static GtkWidget *make_group(const char *name)
{
    GtkWidget *group = g_object_new(GTK_TYPE_SHORTCUTS_GROUP, "title", name, NULL);
    for (guint k = 0; k < G_N_ELEMENTS(commands); k++)
        if (commands[k].accel && strcmp(commands[k].group, name) == 0)
            add_shortcut(group, commands[k].title, commands[k].accel);
    for (guint k = 0; k < G_N_ELEMENTS(fixed); k++)
        if (strcmp(fixed[k].group, name) == 0)
            add_shortcut(group, fixed[k].title, fixed[k].accel);
    return group;
}

// In GTK 4.8 a shortcuts window takes sections, and these their columns of groups, through the
// builder's interface only.
static void add_child(GtkWidget *parent, GtkWidget *child)
{
    GtkBuildableIface *iface =
        g_type_interface_peek(G_OBJECT_GET_CLASS(parent), GTK_TYPE_BUILDABLE);
    g_autoptr(GtkBuilder) builder = gtk_builder_new();
    iface->add_child(GTK_BUILDABLE(parent), builder, G_OBJECT(child), NULL);
}

void litho_shortcuts_open(GtkWindow *parent)
{
    static const char *const groups[] = {"Compare", "Colours",   "Slices",         "Views",  "File",
                                         "Flow",    "Snapshots", "Demonstrations", "General"};
    GtkWidget *window = g_object_new(GTK_TYPE_SHORTCUTS_WINDOW, "transient-for", parent, "modal",
                                     TRUE, "title", "Keyboard shortcuts", NULL);
    GtkWidget *section =
        g_object_new(GTK_TYPE_SHORTCUTS_SECTION, "section-name", "all", "max-height", 1000, NULL);
    for (guint k = 0; k < G_N_ELEMENTS(groups); k++)
        add_child(section, make_group(groups[k]));
    g_object_set(section, "max-height", 17, NULL); // columns are made once all groups are there
    add_child(window, section);
    gtk_window_present(GTK_WINDOW(window));
}

// --- help ---------------------------------------------------------------------------------------

void litho_help_open(GtkWindow *parent)
{
    g_autoptr(GBytes) bytes = g_resources_lookup_data("/org/lithoscope/Lithoscope/help.txt",
                                                      G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    GtkWidget *window = litho_dialog_new(parent, "Lithoscope help", 560, 620);
    GtkWidget *scroll = gtk_scrolled_window_new();
    GtkWidget *label = gtk_label_new(NULL);
    gtk_label_set_markup(GTK_LABEL(label), bytes ? g_bytes_get_data(bytes, NULL) : "");
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_yalign(GTK_LABEL(label), 0);
    litho_label_set_copyable(label);
    gtk_widget_set_focusable(scroll, TRUE);
    gtk_widget_add_css_class(label, "litho-help");
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroll), label);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroll), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_window_set_child(GTK_WINDOW(window), scroll);
    gtk_window_present(GTK_WINDOW(window));
}
