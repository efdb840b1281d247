// SPDX-License-Identifier: GPL-3.0-or-later
//
// A judged result in words and as JSON.
#include <math.h>

#include "core/axis_names.h"
#include "core/engine/quality.h"
#include "core/json.h"
#include "core/text.h"

char *litho_quality_expected_text(const LithoQuality *q)
{
    return q->is_filtered || !isfinite(q->expected_snr_db) ? g_strdup(_("not known"))
           : q->is_clean ? g_strdup_printf(_("more than %d dB"), LITHO_QUALITY_CLEAN_DB)
           : q->counts_steep
               ? litho_text_printf(_("%.2f dB with steep noise as signal"), q->expected_snr_db)
           : q->is_beyond ? litho_text_printf(_("at most %.2f dB"), q->expected_snr_db)
           : q->expected_is_bound
               ? litho_text_printf(_("at least %.2f dB"), q->expected_snr_db)
               : litho_text_printf(_("%.2f dB (%.2f to %.2f)"), q->expected_snr_db,
                                   q->expected_low_db, q->expected_high_db);
}

double litho_quality_loss_db(const LithoQuality *q)
{
    const gboolean is_known = !q->is_filtered && !q->is_clean && isfinite(q->expected_gain_db);
    const double gain = isfinite(q->gain_db) && !q->fills_alone ? q->gain_db
                        : is_known                              ? q->expected_gain_db
                                                                : 0;
    return gain < -LITHO_QUALITY_EVEN_DB ? -gain : 0;
}

double litho_quality_noise_part(const LithoQuality *q)
{
    const gboolean doubtful = q->is_clean || q->is_beyond || (q->is_filtered && !q->is_rough);
    return doubtful ? NAN : 1 / (1 + pow(10, q->input_snr_db / 10));
}

gboolean litho_quality_noise_stays(const LithoQuality *q)
{
    return q->removed < litho_quality_noise_part(q) / 2;
}

const char *litho_quality_disagreement(const LithoQuality *q)
{
    const double more = q->hidden_snr_db - q->expected_snr_db;
    if (!(fabs(more) > 1))
        return "";
    return more > 0
               ? _("Hidden traces promise more than the noise level: noise remains that a "
                   "prediction of missing traces does not touch, or the noise level is too high.")
               : _("Hidden traces promise less than the noise level: events differ from trace "
                   "to trace more than neighbours can tell, or the noise level is too low.");
}

static void add_number(JsonObject *object, const char *key, double value)
{
    if (isfinite(value))
        json_object_set_double_member(object, key, value);
}

static void add_interval(JsonObject *object, const char *key, double low, double high)
{
    if (!isfinite(low) || !isfinite(high))
        return;
    JsonArray *interval = json_array_new();
    json_array_add_double_element(interval, low);
    json_array_add_double_element(interval, high);
    json_object_set_array_member(object, key, interval);
}

// The words are those of files: in English.
static void add_leaving(JsonObject *object, const LithoQuality *q)
{
    add_number(object, "signal_lost_percent", 100 * q->lost);
    add_interval(object, "signal_lost_interval_percent", 100 * q->lost_low, 100 * q->lost_high);
    if (isfinite(q->lost))
        json_object_set_string_member(object, "signal_reading",
                                      litho_leak_words(litho_quality_leak_reading(q)));
    if (q->leak.count == 0)
        return;
    add_number(object, "similarity_share", q->leak.share);
    add_number(object, "similarity_beside_noise", q->leak.beside_noise);
    json_object_set_string_member(object, "similarity_reading",
                                  litho_leak_words(litho_leak_reading(&q->leak)));
    if (!litho_similarity_widths_equal(q->widths, litho_similarity_widths())) {
        g_autofree char *widths = litho_similarity_widths_print(q->widths);
        json_object_set_string_member(object, "similarity_half_widths", widths);
    }
    if (!(q->leak.beside_noise > 0))
        return;
    JsonArray *worst = json_array_new();
    for (int axis = 0; axis < 3; axis++)
        json_array_add_int_element(worst, q->leak.worst[axis]);
    json_object_set_array_member(object, "similarity_worst", worst); // an index per axis
}

void litho_quality_to_json(const LithoQuality *q, JsonObject *object)
{
    add_number(object, "expected_snr_db", q->expected_snr_db);
    if (isfinite(q->expected_snr_db))
        add_interval(object, "expected_snr_interval_db", q->expected_low_db, q->expected_high_db);
    if (q->is_filtered || q->counts_steep)
        json_object_set_boolean_member(object, "expected_snr_is_doubtful", TRUE);
    add_number(object, "expected_gain_db", q->expected_gain_db);
    add_number(object, "input_snr_db", q->input_snr_db);
    add_number(object, "noise_sigma", q->noise_sigma);
    add_leaving(object, q);
    add_number(object, "removed_percent", 100 * q->removed);
    add_number(object, "noise_percent", 100 * litho_quality_noise_part(q));
    add_number(object, "snr_db", q->snr_db);
    if (q->fills_alone) // then snr_db is that of the filled traces
        json_object_set_int_member(object, "filled_traces", q->filled_traces);
    add_number(object, "gain_db", q->gain_db);
    add_number(object, "true_lost_percent", 100 * q->true_lost);
    add_number(object, "hidden_snr_db", q->hidden_snr_db);
    add_number(object, "hidden_off_db", q->hidden_off_db);
    if (q->hidden_traces > 0)
        json_object_set_int_member(object, "hidden_traces", q->hidden_traces);
    add_number(object, "seconds", q->seconds);
    json_object_set_int_member(object, "samples", q->count);
    if (*q->why)
        json_object_set_string_member(object, "note", q->why);
    if (*litho_quality_disagreement(q))
        json_object_set_string_member(object, "disagreement", litho_quality_disagreement(q));
}

char *litho_quality_area_text(const LithoGrid *grid, LithoBox area)
{
    GString *text = g_string_new(NULL);
    for (int k = 0; k < 3; k++) {
        const LithoAxis *a = &grid->axis[k];
        if (litho_axis_is_unnumbered(grid, k))
            continue;
        const gboolean one = area.hi[k] - area.lo[k] == 1;
        g_autofree char *names = one ? litho_axis_word(grid, k) : litho_axis_words(grid, k);
        const double first = litho_axis_value(a, (double)area.lo[k]),
                     last = litho_axis_value(a, (double)area.hi[k] - 1);
        const char *gap = text->len ? ", " : "", *space = *a->unit ? " " : "";
        if (one)
            g_string_append_printf(text, "%s%s %.10g%s%s", gap, names, first, space, a->unit);
        else
            g_string_append_printf(text, _("%s%s %.10g to %.10g%s%s"), gap, names, first, last,
                                   space, a->unit);
    }
    return g_string_free(text, FALSE);
}

static JsonObject *noise_json(const LithoNoise *noise)
{
    JsonObject *object = json_object_new();
    JsonArray *sigma = json_array_new();
    for (guint f = 0; f < noise->n; f++)
        if (isfinite(noise->sigma[f]))
            json_array_add_double_element(sigma, noise->sigma[f]);
        else
            json_array_add_null_element(sigma); // of samples beyond what a float can square
    add_number(object, "sigma", noise->total);
    add_number(object, "low", noise->low);
    add_number(object, "high", noise->high);
    if (noise->lumps > 0)
        add_number(object, "lumps", noise->lumps);
    if (noise->local) {
        add_number(object, "varies_percent", 100 * noise->varies);
        add_number(object, "lines_percent", 100 * noise->lines);
    }
    if (noise->lines > LITHO_NOISE_LINES)
        add_number(object, "line_at", noise->line_at);
    if (noise->swell > 0)
        add_number(object, "swell", noise->swell);
    if (noise->levelled < 0)
        add_number(object, "gain_control_correlation", noise->levelled);
    if (noise->gains > 0)
        add_number(object, "gains_percent", 100 * noise->gains);
    if (noise->noisy > 0)
        add_number(object, "noisy_traces_percent", 100 * noise->noisy);
    if (noise->shifts > 0)
        add_number(object, "trace_shifts_samples", noise->shifts);
    if (noise->reversed > 0) {
        JsonArray *places = json_array_new();
        for (guint k = 0; k < MIN(noise->reversed, LITHO_NOISE_NAMED); k++) {
            JsonArray *place = json_array_new();
            json_array_add_double_element(place, noise->reversed_at[k][0]);
            json_array_add_double_element(place, noise->reversed_at[k][1]);
            json_array_add_array_element(places, place);
        }
        json_object_set_int_member(object, "reversed_traces", noise->reversed);
        json_object_set_array_member(object, "reversed_at", places);
    }
    if (noise->steep > 0) {
        add_number(object, "steep_percent", 100 * noise->steep);
        add_number(object, "steep_below", noise->steep_below);
        add_number(object, "steep_samples_a_trace", noise->steep_slope);
    }
    add_number(object, "df", noise->df);
    json_object_set_array_member(object, "sigma_of_frequency", sigma);
    return object;
}

// Line numbers and s or m, by the axes' keys.
static JsonObject *slices_json(const LithoGrid *grid, const gint64 slice[3])
{
    JsonObject *object = json_object_new();
    for (int a = 0; a < 3; a++)
        add_number(object,
                   a == LITHO_SAMPLE ? grid->is_depth ? "depth" : "time" : litho_axis_key(grid, a),
                   litho_axis_value(&grid->axis[a], (double)slice[a]));
    return object;
}

JsonObject *litho_quality_record_json(const LithoQualityRecord *record)
{
    JsonObject *object = json_object_new();
    g_autofree char *area = litho_quality_area_text(record->grid, record->area);
    litho_quality_to_json(record->quality, object);
    json_object_set_string_member(object, "area", area);
    json_object_set_boolean_member(object, "area_is_all",
                                   litho_box_equal(record->area, litho_box_full(record->grid)));
    if (record->noise && record->noise->n > 0)
        json_object_set_object_member(object, "noise", noise_json(record->noise));
    const struct {
        const char *key, *text;
    } texts[] = {{"noise_unknown", record->noise_unknown},
                 {"input", record->input},
                 {"reference", record->reference},
                 {"command", record->command},
                 {"version", LITHO_VERSION}};
    for (guint k = 0; k < G_N_ELEMENTS(texts); k++)
        if (texts[k].text && *texts[k].text)
            json_object_set_string_member(object, texts[k].key, texts[k].text);
    if (record->hide > 0)
        json_object_set_int_member(object, "seed", record->seed);
    if (record->slice)
        json_object_set_object_member(object, "slices", slices_json(record->grid, record->slice));
    if (record->flow)
        json_object_set_member(object, "recipe", litho_flow_to_json(record->flow));
    return object;
}
