// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/commands.h"

#include <string.h>

#include "core/axis_names.h"
#include "core/text.h"
#include "ui/window/dialog.h"
#include "ui/panel/parts.h"
#include "ui/window/window.h"

static const LithoWindowCommand commands[] = {
    {N_("Compare"), N_("Blink input and output"), "win.blink", NULL, "b", TRUE,
     N_("flicker toggle")},
    {N_("Compare"), N_("Show what was removed"), "win.removed", NULL, "d", TRUE},
    {N_("Compare"), N_("Split: input left, output right"), "win.split", NULL, "s", TRUE},
    {N_("Compare"), N_("Similarity of output and removed: where signal leaves"), "win.similarity",
     NULL, "l", TRUE, N_("leak overlay map")},
    {N_("Compare"), N_("Show the input"), "win.show", "'input'", NULL, FALSE},
    {N_("Compare"), N_("Show the output"), "win.show", "'output'", NULL, FALSE},
    {N_("Compare"), N_("Show input and output side by side"), "win.show", "'side'", NULL, FALSE},
    {N_("Compare"), N_("Compare with the truth beside the file"), "win.truth", NULL, "<Control>t",
     FALSE, N_("known answer reference generated")},
    {N_("Compare"), N_("Compare with a file"), "win.reference", NULL, "<Control><Shift>t", FALSE,
     N_("truth reference answer SNR error gain")},
    {N_("Compare"), N_("Forget the reference"), "win.reference-forget", NULL, NULL, FALSE},
    {N_("Compare"), N_("Test on hidden traces: on and off"), "win.hidden", NULL, NULL, FALSE,
     N_("hold-out holdout interpolation missing check")},
    {N_("Colours"), N_("Clip smaller: stronger colours"), "win.clip-down", NULL, "bracketleft",
     TRUE},
    {N_("Colours"), N_("Clip larger: weaker colours"), "win.clip-up", NULL, "bracketright", TRUE},
    {N_("Colours"), N_("Less gain for the removed part"), "win.gain-down", NULL, "braceleft", TRUE},
    {N_("Colours"), N_("More gain for the removed part"), "win.gain-up", NULL, "braceright", TRUE},
    {N_("Colours"), N_("Next colour map"), "win.colours-next", NULL, "c", TRUE,
     N_("color colormap palette")},
    {N_("Colours"), N_("Colour maps by name"), "win.colours-menu", NULL, "v", TRUE,
     N_("color colormap palette viridis grey")},
    {N_("Colours"), N_("Load a colour map"), "win.colours-load", NULL, NULL, FALSE},
    {N_("Colours"), N_("Wiggles on and off"), "win.wiggle", NULL, "w", TRUE},
    {N_("Colours"), N_("Wiggles without the section"), "win.density", NULL, "x", TRUE,
     N_("variable area density paper")},
    {N_("Colours"), N_("Automatic gain of the picture"), "win.agc", NULL, "g", TRUE,
     N_("AGC display balance")},
    {N_("Colours"), N_("Gain of the picture with time: none, t, t²"), "win.time-gain", NULL, "t",
     TRUE, N_("spreading display")},
    {N_("Views"), N_("Velocity over the image: none, faint, strong, alone"), "win.medium", NULL,
     "o", TRUE, N_("overlay opacity model medium")},
    {N_("Views"), N_("Maximise the inline section"), "win.maximise", "0", "1", TRUE},
    {N_("Views"), N_("Maximise the crossline section"), "win.maximise", "1", "2", TRUE},
    {N_("Views"), N_("Maximise the time slice"), "win.maximise", "2", "3", TRUE},
    {N_("Views"), N_("Maximise the 3-D scene"), "win.maximise", "3", "4", TRUE,
     N_("3D cube rotate maximize")},
    {N_("Views"), N_("Frequencies of an area: drag it on a section"), "win.area", NULL, "f", TRUE,
     N_("spectrum f-k fk wavenumber ruler dip velocity measure")},
    {N_("Views"), N_("Note the point under the pointer"), "win.point", NULL, "n", TRUE,
     N_("pick measure table")},
    {N_("Views"), N_("Save the noted points as CSV"), "win.points-save", NULL, NULL, FALSE,
     N_("picks table")},
    {N_("Views"), N_("Forget the noted points"), "win.points-forget", NULL, NULL, FALSE},
    {N_("Views"), N_("Data or the operator's model in the 3-D panel"), "win.model", NULL, "m",
     TRUE},
    {N_("Views"), N_("Times in milliseconds"), "win.time-unit", "'ms'", NULL, FALSE},
    {N_("Views"), N_("Times in seconds"), "win.time-unit", "'s'", NULL, FALSE},
    {N_("Views"), N_("Lines and traces by number"), "win.lines", "'numbers'", NULL, FALSE},
    {N_("Views"), N_("Lines and traces in metres"), "win.lines", "'metres'", NULL, FALSE,
     N_("meters units distance")},
    {N_("Views"), N_("Zoom in"), "win.zoom-in", NULL, "plus", TRUE},
    {N_("Views"), N_("Zoom out"), "win.zoom-out", NULL, "minus", TRUE},
    {N_("Views"), N_("Fit everything"), "win.fit", NULL, "0", TRUE},
    {N_("Views"), N_("Fold the left panel"), "win.fold-left", NULL, "F9", FALSE,
     N_("flow parameters panel sidebar")},
    {N_("Views"), N_("Fold the right panel"), "win.fold-right", NULL, "F10", FALSE,
     N_("figures spectrum histogram timings panel sidebar")},
    {N_("Views"), N_("Full screen"), "win.fullscreen", NULL, "F11", FALSE,
     N_("fullscreen maximize")},
    {N_("File"), N_("Open a cube"), "win.open", NULL, "<Control>o", FALSE},
    {N_("File"), N_("Try the demo"), "win.demo", NULL, NULL, FALSE},
    {N_("File"), N_("Save the result"), "win.save", NULL, "<Control>s", FALSE},
    {N_("File"), N_("Export the picture"), "win.picture", NULL, "<Control>e", FALSE,
     N_("figure screenshot image PDF PNG SVG")},
    {N_("File"), N_("Report: slices and figures on a page"), "win.report", NULL,
     "<Control><Shift>e", FALSE, N_("QC PDF JSON print quality control")},
    {N_("File"), N_("Open a recipe"), "win.recipe-open", NULL, NULL, FALSE},
    {N_("File"), N_("Save the recipe"), "win.recipe-save", NULL, NULL, FALSE},
    {N_("File"), N_("Copy as command"), "win.copy-command", NULL, "<Control><Shift>c", FALSE,
     N_("terminal shell script command line")},
    {N_("File"), N_("Continue where you were"), "win.continue", NULL, "<Control><Shift>o", FALSE},
    {N_("Snapshots"), N_("Keep a snapshot"), "win.snapshot", NULL, "k", TRUE,
     N_("remember version")},
    {N_("Snapshots"), N_("Go to snapshot A"), "win.snapshot-go", "'A'", "<Alt>1", FALSE},
    {N_("Snapshots"), N_("Go to snapshot B"), "win.snapshot-go", "'B'", "<Alt>2", FALSE},
    {N_("Snapshots"), N_("Go to snapshot C"), "win.snapshot-go", "'C'", "<Alt>3", FALSE},
    {N_("Snapshots"), N_("Go to snapshot D"), "win.snapshot-go", "'D'", "<Alt>4", FALSE},
    {N_("Snapshots"), N_("Compare with the input"), "win.snapshot-compare", "''", "<Control>0",
     FALSE},
    {N_("Snapshots"), N_("Compare with snapshot A"), "win.snapshot-compare", "'A'", "<Control>1",
     FALSE},
    {N_("Snapshots"), N_("Compare with snapshot B"), "win.snapshot-compare", "'B'", "<Control>2",
     FALSE},
    {N_("Snapshots"), N_("Compare with snapshot C"), "win.snapshot-compare", "'C'", "<Control>3",
     FALSE},
    {N_("Snapshots"), N_("Compare with snapshot D"), "win.snapshot-compare", "'D'", "<Control>4",
     FALSE},
    {N_("Flow"), N_("Undo"), "win.undo", NULL, "<Control>z", FALSE},
    {N_("Flow"), N_("Redo"), "win.redo", NULL, "<Control><Shift>z <Control>y", FALSE},
    {N_("Flow"), N_("Compute all"), "win.compute", NULL, "<Control>Return", FALSE},
    {N_("Flow"), N_("Find better values"), "win.find", NULL, "<Control>f", FALSE,
     N_("suggest optimise optimize automatic tune SNR best")},
    {N_("Flow"), N_("Sweep a parameter"), "win.sweep", NULL, "<Control>p", FALSE},
    {N_("Flow"), N_("Race: CPU against GPU"), "win.race", NULL, "<Control>r", FALSE,
     N_("speed speed-up threads benchmark")},
    {N_("Demonstrations"), N_("Presenter mode: larger and fewer things"), "win.present", NULL, "F5",
     FALSE, N_("projector beamer lecture")},
    {N_("Demonstrations"), N_("Play the tour"), "win.demo-play", "'tour'", NULL, FALSE,
     N_("first steps learn tutorial")},
    {N_("Demonstrations"), N_("Play for ever, as in a kiosk"), "win.demo-play", "'kiosk'", NULL,
     FALSE},
    {N_("Demonstrations"), N_("Open a demonstration"), "win.demo-open", NULL, NULL, FALSE,
     "script"},
    {N_("Demonstrations"), N_("Record what I do; again: save it"), "win.record", NULL,
     "<Control><Shift>r", FALSE, N_("script macro")},
    {N_("File"), N_("Survey, headers and how they were read"), "win.survey", NULL, "<Control>i",
     FALSE, N_("report geometry SEG-Y EBCDIC")},
    {N_("File"), N_("Read the file with other header bytes"), "win.import", NULL,
     "<Control><Shift>i", FALSE},
    {N_("Flow"), N_("Pause and go on"), "win.pause", NULL, "p", TRUE},
    {N_("Flow"), N_("Cancel; leave full screen"), "win.cancel", NULL, "Escape", TRUE},
    {N_("General"), N_("Help"), "win.help", NULL, "F1", FALSE},
    {N_("General"), N_("Keyboard shortcuts"), "win.shortcuts", NULL, "<Control>question", FALSE},
    {N_("General"), N_("Menu"), "win.menu", NULL, "<Alt>m", FALSE},
    {N_("General"), N_("Commands and parameters"), "win.palette", NULL, "<Control><Shift>p", FALSE},
    {N_("General"), N_("Appearance: dark"), "app.appearance", "'dark'", NULL, FALSE,
     N_("theme night mode")},
    {N_("General"), N_("Appearance: light"), "app.appearance", "'light'", NULL, FALSE,
     N_("theme bright mode")},
    {N_("General"), N_("Appearance: follow the system"), "app.appearance", "'system'", NULL, FALSE,
     N_("theme dark light mode")},
    {N_("General"), N_("Compute on the CPU"), "win.device", "'cpu'", NULL, FALSE},
    {N_("General"), N_("Compute on the GPU"), "win.device", "'cuda'", NULL, FALSE},
    {N_("General"), N_("Compute on all GPUs"), "win.device", "'cuda:all'", NULL, FALSE},
    {N_("General"), N_("About Lithoscope"), "win.about", NULL, NULL, FALSE,
     N_("version licence license credits libraries")},
    {N_("General"), N_("Close the window"), "window.close", NULL, "<Control>w <Control>q", FALSE,
     N_("quit exit")},
};

// Keys that the views and the window handle themselves, for the shortcuts window.
static const struct {
    const char *group, *title, *accel;
} fixed[] = {
    {N_("Compare"), N_("Input, while held"), "space"},
    {N_("Compare"), N_("Move the divider"), "Left Right"},
    {N_("Slices"), N_("Step the slice"), "Up Down"},
    {N_("Slices"), N_("Step ten slices"), "<Shift>Up <Shift>Down"},
    {N_("Slices"), N_("First and last slice"), "Home End"},
    {N_("Slices"), N_("Maximise and restore"), "Return"},
    {N_("Slices"), N_("Menu of the view"), "Menu <Shift>F10"},
    {N_("Slices"), N_("Turn the 3-D scene"), "Left Right Up Down"},
    {N_("Slices"), N_("Move the 3-D scene"), "<Shift>Left <Shift>Right <Shift>Up <Shift>Down"},
    {N_("Slices"), N_("Drag a boundary of a model"), "Page_Up Page_Down"},
    {N_("Slices"), N_("The model's next boundary"), "Insert"},
    {N_("Demonstrations"), N_("Next and back"), "Right Left"},
    {N_("Demonstrations"), N_("Next and back, with a remote"), "Page_Down Page_Up"},
    {N_("Demonstrations"), N_("Pause and go on"), "p"},
    {N_("Demonstrations"), N_("End: back to where you were"), "Escape"},
    {N_("Flow"), N_("Move the step in the flow"), "<Alt>Up <Alt>Down"},
    {N_("Flow"), N_("Remove the step"), "Delete"},
    {N_("Flow"), N_("Change the number of a parameter"), "Up Down"},
    {N_("Flow"), N_("Change it by more"), "Page_Up Page_Down"},
    {N_("Flow"), N_("Take it, and back to the views"), "Return"},
    {N_("Snapshots"), N_("Rename the snapshot"), "F2"},
    {N_("Snapshots"), N_("Remove the snapshot"), "Delete"},
    {N_("Spectrum and amplitudes"), N_("The other edge of the band or the clip"),
     "Page_Up Page_Down"},
    {N_("Spectrum and amplitudes"), N_("Move the edge"), "Left Right"},
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
        g_auto(GStrv) accels = g_strsplit(c->accel, " ", -1);
        gtk_application_set_accels_for_action(app, detailed, (const char *const *)accels);
    }
}

char *litho_command_title(const LithoWindowCommand *command, const LithoGrid *grid)
{
    const int axis = command->target ? command->target[0] - '0' : LITHO_SAMPLE;
    if (!grid || strcmp(command->action, "win.maximise") != 0 || axis > LITHO_XLINE ||
        litho_axis_is_line(grid, axis))
        return g_strdup(litho_text(command->title));
    g_autofree char *name = litho_axis_word(grid, axis);
    return g_strdup_printf(_("Maximise the %s section"), name);
}

// --- shortcuts window ---------------------------------------------------------------------------

static void add_shortcut(GtkWidget *group, const char *title, const char *accel)
{
    GtkWidget *shortcut =
        g_object_new(GTK_TYPE_SHORTCUTS_SHORTCUT, "title", title, "accelerator", accel, NULL);
    gtk_box_append(GTK_BOX(group), shortcut);
}

static GtkWidget *make_group(const char *name, const LithoGrid *grid)
{
    GtkWidget *group = g_object_new(GTK_TYPE_SHORTCUTS_GROUP, "title", litho_text(name), NULL);
    for (guint k = 0; k < G_N_ELEMENTS(commands); k++)
        if (commands[k].accel && strcmp(commands[k].group, name) == 0) {
            g_autofree char *title = litho_command_title(&commands[k], grid);
            add_shortcut(group, title, commands[k].accel);
        }
    for (guint k = 0; k < G_N_ELEMENTS(fixed); k++)
        if (strcmp(fixed[k].group, name) == 0)
            add_shortcut(group, litho_text(fixed[k].title), fixed[k].accel);
    return group;
}

// GTK 4.8 knows the names of some keys by their symbols alone: "Page_Up" in English.
static void write_keys_out(GtkWidget *widget)
{
    if (GTK_IS_LABEL(widget) && gtk_widget_has_css_class(widget, "keycap")) {
        g_autofree char *text = g_strdup(gtk_label_get_text(GTK_LABEL(widget)));
        gtk_label_set_text(GTK_LABEL(widget), g_strdelimit(text, "_", ' '));
    }
    for (GtkWidget *c = gtk_widget_get_first_child(widget); c; c = gtk_widget_get_next_sibling(c))
        write_keys_out(c);
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
    static const char *const groups[] = {N_("Compare"),
                                         N_("Colours"),
                                         N_("Slices"),
                                         N_("Views"),
                                         N_("Spectrum and amplitudes"),
                                         N_("File"),
                                         N_("Flow"),
                                         N_("Snapshots"),
                                         N_("Demonstrations"),
                                         N_("General")};
    const LithoGrid *grid = litho_session_grid(litho_window_session(LITHO_WINDOW(parent)));
    GtkWidget *window = g_object_new(GTK_TYPE_SHORTCUTS_WINDOW, "transient-for", parent, "modal",
                                     TRUE, "title", _("Keyboard shortcuts"), NULL);
    GtkWidget *section =
        g_object_new(GTK_TYPE_SHORTCUTS_SECTION, "section-name", "all", "max-height", 1000, NULL);
    for (guint k = 0; k < G_N_ELEMENTS(groups); k++)
        add_child(section, make_group(groups[k], grid));
    g_object_set(section, "max-height", 17, NULL); // columns are made once all groups are there
    add_child(window, section);
    write_keys_out(window); // those of its search, too
    gtk_window_present(GTK_WINDOW(window));
}

// --- help ---------------------------------------------------------------------------------------

void litho_help_open(GtkWindow *parent)
{
    // For translators: the name of a file in data/.
    g_autofree char *path = g_strconcat("/org/lithoscope/Lithoscope/", _("help.txt"), NULL);
    g_autoptr(GBytes) bytes = g_resources_lookup_data(path, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
    GtkWidget *window = litho_dialog_new(parent, _("Lithoscope help"), 560, 620);
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
