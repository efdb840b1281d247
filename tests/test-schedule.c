// SPDX-License-Identifier: GPL-3.0-or-later
//
// The policy behind the window, on a clock of the test's own: no threads, no waiting.
#include <glib.h>
#include <string.h>

#include "core/engine/schedule.h"

// One wish after another on a machine where a view takes `view_s` and the cube `whole_s`; a newer
// wish comes every `event_s` (0: never). Counts what was finished.
typedef struct Machine {
    LithoSchedule s;
    double now_s, view_s[LITHO_SCHEDULE_MAX_VIEWS], whole_s, event_s;
    double next_event_s;
    guint n_views, done[LITHO_SCHEDULE_MAX_VIEWS], wholes, given_up, given_way;
} Machine;

static gboolean is_newer(const Machine *m)
{
    return m->event_s > 0 && m->now_s >= m->next_event_s;
}

// Runs a task in steps of a millisecond, as an operator asks at every step. TRUE when finished.
static gboolean run_task(Machine *m, LithoTask task)
{
    double left_s = task.what == LITHO_TASK_VIEW ? m->view_s[task.view] : m->whole_s;
    while (left_s > 1e-9) {
        const double step_s = MIN(left_s, 1e-3);
        m->now_s += step_s;
        left_s -= step_s;
        if (litho_schedule_gives_way(&m->s, m->now_s, is_newer(m)))
            return FALSE;
    }
    return TRUE;
}

static void run_wish(Machine *m)
{
    if (m->event_s > 0) // the newest wish is taken; the next event makes it old
        m->next_event_s = m->event_s * ((gint64)(m->now_s / m->event_s) + 1);
    litho_schedule_begin(&m->s, m->n_views, TRUE, FALSE);
    for (;;) {
        const LithoTask task = litho_schedule_next(&m->s, m->now_s, is_newer(m));
        if (task.what == LITHO_TASK_NONE)
            return;
        if (task.what == LITHO_TASK_GIVE_WAY) {
            m->given_way++;
            return;
        }
        const gboolean finished = run_task(m, task);
        litho_schedule_end(&m->s, m->now_s, finished);
        if (!finished) {
            m->given_up++;
            return;
        }
        if (task.what == LITHO_TASK_VIEW)
            m->done[task.view]++;
        else
            m->wholes++;
    }
}

static Machine machine(double view_s, double whole_s, double event_s)
{
    Machine m = {.n_views = 3, .whole_s = whole_s, .event_s = event_s};
    for (guint k = 0; k < LITHO_SCHEDULE_MAX_VIEWS; k++)
        m.view_s[k] = view_s;
    return m;
}

// Property: a wish that is left alone computes its views in their order, each shown when it is
// ready, then the whole cube, once.
static void test_order(void)
{
    LithoSchedule s = {0};
    litho_schedule_begin(&s, 3, TRUE, FALSE);
    for (guint k = 0; k < 3; k++) {
        const LithoTask task = litho_schedule_next(&s, k, FALSE);
        g_assert_cmpint(task.what, ==, LITHO_TASK_VIEW);
        g_assert_cmpuint(task.view, ==, k);
        litho_schedule_end(&s, k + 0.5, TRUE);
        g_assert_true(litho_schedule_shows(&s));
        g_assert_cmpint(litho_schedule_has_all_views(&s), ==, k == 2);
    }
    g_assert_cmpint(litho_schedule_next(&s, 3, FALSE).what, ==, LITHO_TASK_WHOLE);
    litho_schedule_end(&s, 4, TRUE);
    g_assert_cmpint(litho_schedule_next(&s, 4, FALSE).what, ==, LITHO_TASK_NONE);
}

// Property: a cube that took less than 25 ms, one that a view shows whole, and a flow without views
// of its own are computed as a whole from the start; visible slices alone never are.
static void test_whole_first(void)
{
    Machine m = machine(0.01, 0.02, 0);
    run_wish(&m); // not known yet how long the cube takes
    g_assert_cmpuint(m.done[0], ==, 1);
    run_wish(&m); // nor how long views take that find all plans made
    g_assert_cmpuint(m.done[0], ==, 2);
    run_wish(&m);
    g_assert_cmpuint(m.done[0], ==, 2);
    g_assert_cmpuint(m.wholes, ==, 3);
    litho_schedule_forget(&m.s);
    run_wish(&m);
    g_assert_cmpuint(m.done[0], ==, 3);

    LithoSchedule s = {0};
    litho_schedule_begin(&s, 1, TRUE, TRUE);
    g_assert_cmpint(litho_schedule_next(&s, 0, FALSE).what, ==, LITHO_TASK_WHOLE);
    litho_schedule_begin(&s, 0, FALSE, FALSE);
    g_assert_cmpint(litho_schedule_next(&s, 0, FALSE).what, ==, LITHO_TASK_WHOLE);
    litho_schedule_begin(&s, 1, FALSE, FALSE);
    g_assert_cmpint(litho_schedule_next(&s, 0, FALSE).what, ==, LITHO_TASK_VIEW);
    litho_schedule_end(&s, 1, TRUE);
    g_assert_cmpint(litho_schedule_next(&s, 1, FALSE).what, ==, LITHO_TASK_NONE);
}

// Property: views that take less than 9 ms together come before a whole that takes longer; where
// both are within the frame the whole comes alone.
static void test_frame(void)
{
    Machine m = machine(0.02, 0.06, 0); // the first wish makes plans
    run_wish(&m);
    for (guint k = 0; k < m.n_views; k++)
        m.view_s[k] = 0.002;
    m.whole_s = 0.012;
    for (int k = 0; k < 3; k++)
        run_wish(&m);
    g_assert_cmpuint(m.done[0], ==, 4);
    g_assert_cmpuint(m.wholes, ==, 4);
    m = machine(0.006, 0.016, 0); // all of them take longer
    for (int k = 0; k < 4; k++)
        run_wish(&m);
    g_assert_cmpuint(m.done[0], ==, 2);
    m = machine(0.002, 0.0065, 0);
    for (int k = 0; k < 4; k++)
        run_wish(&m);
    g_assert_cmpuint(m.done[0], ==, 1);
    g_assert_cmpuint(m.wholes, ==, 4);
}

// Property: where a whole goes on from what its views have computed, its time is theirs, too: 30
// and 20 ms are no quick whole, which 20 ms by themselves are.
static void test_shared(void)
{
    for (int shared = 0; shared < 2; shared++) {
        Machine m = machine(0.0001, 0.02, 0);
        m.view_s[0] = 0.03;
        litho_schedule_share(&m.s, shared);
        for (int k = 0; k < 3; k++)
            run_wish(&m);
        g_assert_cmpuint(m.done[0], ==, shared ? 3 : 2);
        g_assert_cmpuint(m.wholes, ==, 3);
    }
}

// Property: quick views are shown together, slow ones one by one. A first view of 6 ms comes before
// two others of 6 ms, which are computed although a newer wish waits; three of 1 ms come at once.
static void test_shown(void)
{
    Machine m = machine(0.01, 10, 0);
    run_wish(&m);
    litho_schedule_begin(&m.s, 3, TRUE, FALSE);
    (void)litho_schedule_next(&m.s, 0, FALSE);
    litho_schedule_end(&m.s, 0.01, TRUE);
    g_assert_false(litho_schedule_shows(&m.s)); // 30 ms in all
    m = machine(0.02, 10, 0);
    run_wish(&m);
    litho_schedule_begin(&m.s, 3, TRUE, FALSE);
    (void)litho_schedule_next(&m.s, 0, FALSE);
    litho_schedule_end(&m.s, 0.02, TRUE);
    g_assert_true(litho_schedule_shows(&m.s));
    for (int slow = 0; slow < 2; slow++) {
        m = machine(slow ? 0.006 : 0.001, 10, 0);
        run_wish(&m);
        litho_schedule_begin(&m.s, 3, TRUE, FALSE);
        for (int k = 0; k < 3; k++) {
            g_assert_cmpint(litho_schedule_next(&m.s, 0, TRUE).what, ==, LITHO_TASK_VIEW);
            litho_schedule_end(&m.s, m.view_s[k], TRUE);
            g_assert_cmpint(litho_schedule_shows(&m.s), ==, k == 2 || (slow && k == 0));
        }
    }
}

// Property: when the view under way gives way. One of unknown or short time may take a second; one
// that took longer is given up after 150 ms; the rest of the cube at once; with nothing newer, or
// nothing under way, nothing ever.
static void test_gives_way(void)
{
    const struct {
        double last_s, at_s;
        gboolean gives_way;
    } cases[] = {{0, 0.99, FALSE},  {0, 1.01, TRUE},  {0.5, 0.99, FALSE},
                 {0.5, 1.01, TRUE}, {2, 0.14, FALSE}, {2, 0.16, TRUE}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoSchedule s = {.view_s = {cases[k].last_s}};
        litho_schedule_begin(&s, 1, TRUE, FALSE);
        g_assert_false(litho_schedule_gives_way(&s, 100, TRUE));
        (void)litho_schedule_next(&s, 50, TRUE);
        g_assert_cmpint(litho_schedule_gives_way(&s, 50 + cases[k].at_s, TRUE), ==,
                        cases[k].gives_way);
        g_assert_false(litho_schedule_gives_way(&s, 1000, FALSE));
    }
    LithoSchedule s = {.whole_s = 1, .whole_known = TRUE};
    litho_schedule_begin(&s, 1, TRUE, FALSE);
    (void)litho_schedule_next(&s, 0, FALSE);
    litho_schedule_end(&s, 0.1, TRUE);
    g_assert_cmpint(litho_schedule_next(&s, 0.1, FALSE).what, ==, LITHO_TASK_WHOLE);
    g_assert_true(litho_schedule_gives_way(&s, 0.101, TRUE));
    litho_schedule_begin(&s, 1, TRUE, FALSE);
    (void)litho_schedule_next(&s, 0, FALSE);
    litho_schedule_end(&s, 0.1, TRUE);
    g_assert_cmpint(litho_schedule_next(&s, 0.1, TRUE).what, ==, LITHO_TASK_GIVE_WAY);
}

// Property: in a drag of 125 events a second the first view follows at its own speed for half of
// the time, the others share the other half evenly, and the cube is never begun for good; when the
// drag ends everything is computed. Cancelling at every event would finish nothing at all, a fixed
// order would leave the last view standing.
static void test_drag(void)
{
    Machine m = machine(0.04, 5, 0.008);
    while (m.now_s < 20)
        run_wish(&m);
    g_test_message("first %u, others %u and %u, wholes %u", m.done[0], m.done[1], m.done[2],
                   m.wholes);
    g_assert_cmpuint(m.done[0], >=, 240); // 20 s / 40 ms = 500 views in all
    g_assert_cmpuint(m.done[1] + m.done[2], >=, 200);
    g_assert_cmpuint(m.done[1] + m.done[2], <=, m.done[0]);
    g_assert_cmpuint(MAX(m.done[1], m.done[2]) - MIN(m.done[1], m.done[2]), <=, 1);
    g_assert_cmpuint(m.wholes, ==, 0);
    m.event_s = 0;
    const guint before[] = {m.done[0], m.done[1], m.done[2]};
    run_wish(&m);
    for (guint k = 0; k < 3; k++)
        g_assert_cmpuint(m.done[k], ==, before[k] + 1);
    g_assert_cmpuint(m.wholes, ==, 1);
}

// A survey is opened on a machine whose first pass takes 1.2 s, as it makes plans, and a drag of
// `seconds` begins right after.
static Machine dragged(double view_s, double whole_s, double seconds)
{
    Machine m = machine(view_s, 1.2, 0);
    run_wish(&m);
    g_assert_cmpuint(m.wholes, ==, 1);
    m.whole_s = whole_s;
    m.event_s = 0.008;
    const double start_s = m.now_s;
    while (m.now_s < start_s + seconds)
        run_wish(&m);
    g_test_message("views of %g s, whole %g s: %u views, %u wholes", view_s, whole_s,
                   m.done[0] + m.done[1] + m.done[2], m.wholes);
    return m;
}

// Property: a cube that takes no longer than its views is computed whole although its first pass
// was slow: views for ever would follow the slider at their own, lower speed. Where that does not
// pay, next to no time goes to trying.
static void test_cold(void)
{
    Machine m = dragged(0.02, 0.013, 2);
    g_assert_cmpuint(m.wholes, >, 100);
    g_assert_cmpuint(m.done[0], <, 5);
    m = dragged(0.05, 0.08, 2); // 100 ms for two of the views
    g_assert_cmpuint(m.wholes, >, 15);
    g_assert_cmpuint(m.done[0], <, 5);
    m = dragged(0.02, 1.2, 2);
    g_assert_cmpuint(m.wholes, ==, 1);
    g_assert_cmpuint(m.done[0] + m.done[1] + m.done[2], >, 90);
    m = dragged(0.08, 1.2, 2);
    g_assert_cmpuint(m.done[0] + m.done[1] + m.done[2], >, 24);

    m = machine(0.02, 1.2, 0.008); // the first pass is given up
    while (m.now_s < 2)
        run_wish(&m);
    g_assert_cmpuint(m.wholes, ==, 0);
    g_assert_cmpuint(m.done[0] + m.done[1] + m.done[2], >, 90);
}

// Property: views of very different cost leave the first its half of the time.
static void test_uneven(void)
{
    Machine m = machine(0.03, 5, 0.008);
    m.view_s[2] = 0.3; // a time slice needs ten times what a section does
    while (m.now_s < 30)
        run_wish(&m);
    const double first_s = 0.03 * m.done[0];
    g_test_message("first %.1f of 30 s; others %u and %u", first_s, m.done[1], m.done[2]);
    g_assert_cmpfloat(first_s, >, 0.4 * 30);
    g_assert_cmpuint(m.done[2], >=, 10);
    g_assert_cmpuint(m.done[1], >=, 10);
}

// Property: views of which each takes longer than a second are still finished now and then when
// events come slower than the grace, and given up when they come faster.
static void test_slow(void)
{
    Machine m = machine(3, 30, 4);
    while (m.now_s < 100)
        run_wish(&m);
    g_assert_cmpuint(m.done[0], >=, 20);
    m = machine(3, 30, 0.008);
    while (m.now_s < 100)
        run_wish(&m);
    g_assert_cmpuint(m.done[0], ==, 0);
    g_assert_cmpuint(m.given_up, >, 50);
}

// Property: a pass that all has been seen of gives way at once, however patient it began.
static void test_first_look(void)
{
    LithoSchedule s = {.whole_s = 0.3};
    litho_schedule_begin(&s, 0, TRUE, FALSE);
    g_assert_cmpint(litho_schedule_next(&s, 1, FALSE).what, ==, LITHO_TASK_WHOLE);
    g_assert_false(litho_schedule_gives_way(&s, 1.1, TRUE));
    litho_schedule_shown(&s);
    g_assert_false(litho_schedule_gives_way(&s, 1.101, FALSE));
    g_assert_true(litho_schedule_gives_way(&s, 1.101, TRUE));
    litho_schedule_end(&s, 1.102, FALSE);
    litho_schedule_begin(&s, 0, TRUE, FALSE);
    g_assert_cmpint(litho_schedule_next(&s, 1.2, FALSE).what, ==, LITHO_TASK_WHOLE);
    g_assert_false(litho_schedule_gives_way(&s, 1.3, TRUE)); // of the next wish nothing is seen yet
}

// Property: the rest of the cube is put off while wishes follow each other, for 0.1 s behind the
// last; not behind a wish that stands alone, not before the views are there, and not for the trial
// that tells whether the whole is quick. What comes behind a first look waits as long.
static void test_rest(void)
{
    const struct {
        double asked_s[2], at_s, rest_s;
        gboolean viewed, whole_known;
    } cases[] = {{{0.5, 1.0}, 1.0, 0, TRUE, TRUE},      {{0.8, 1.0}, 1.0, 0.1, TRUE, TRUE},
                 {{0.8, 1.0}, 1.07, 0.03, TRUE, TRUE},  {{0.8, 1.0}, 1.2, 0, TRUE, TRUE},
                 {{0.8, 1.0}, 1.0, 0, FALSE, TRUE},     {{0.98, 1.0}, 1.0, 0, TRUE, FALSE},
                 {{0.98, 1.0}, 1.02, 0.08, TRUE, TRUE}, {{0, 1.0}, 1.0, 0, TRUE, TRUE}};
    for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
        LithoSchedule s = {.whole_s = 1, .whole_known = cases[k].whole_known};
        for (guint a = 0; a < 2; a++)
            if (cases[k].asked_s[a] > 0)
                litho_schedule_asked(&s, cases[k].asked_s[a]);
        litho_schedule_begin(&s, 1, TRUE, FALSE);
        if (cases[k].viewed) {
            (void)litho_schedule_next(&s, 1, FALSE);
            litho_schedule_end(&s, 1.01, TRUE);
        }
        g_assert_cmpfloat_with_epsilon(litho_schedule_rest_s(&s, cases[k].at_s), cases[k].rest_s,
                                       1e-9);
        const double left = cases[k].asked_s[0] > 0.7 ? MAX(1.1 - cases[k].at_s, 0) : 0;
        g_assert_cmpfloat_with_epsilon(litho_schedule_look_rest_s(&s, cases[k].at_s), left, 1e-9);
    }
}

// Property: a wish waits for a slow result before it to be drawn, 0.1 s at most; a former
// result that is drawn lets nothing begin; where nobody draws only one wish waits, until somebody
// does.
static void test_screen(void)
{
    const double slow_s = 1.5e-3 * LITHO_SCHEDULE_LONG_MS,
                 quick_s = 0.5e-3 * LITHO_SCHEDULE_LONG_MS;
    LithoSchedule s = {0};
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 1), ==, 0); // nothing has been published
    litho_schedule_published(&s, 1, slow_s);
    g_assert_cmpfloat_with_epsilon(litho_schedule_hold_s(&s, 1.010), 0.09, 1e-9);
    litho_schedule_drawn(&s, FALSE);
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 1.020), >, 0);
    litho_schedule_drawn(&s, TRUE);
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 1.020), ==, 0);

    litho_schedule_published(&s, 2, slow_s);
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 2.101), ==, 0); // too long
    litho_schedule_published(&s, 3, slow_s);
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 3), ==, 0);
    litho_schedule_drawn(&s, FALSE);
    litho_schedule_published(&s, 4, slow_s);
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 4), >, 0);
    litho_schedule_published(&s, 5, quick_s); // quick
    g_assert_cmpfloat(litho_schedule_hold_s(&s, 5), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/schedule/order", test_order);
    g_test_add_func("/schedule/whole-first", test_whole_first);
    g_test_add_func("/schedule/frame", test_frame);
    g_test_add_func("/schedule/shared", test_shared);
    g_test_add_func("/schedule/shown", test_shown);
    g_test_add_func("/schedule/gives-way", test_gives_way);
    g_test_add_func("/schedule/first-look", test_first_look);
    g_test_add_func("/schedule/drag", test_drag);
    g_test_add_func("/schedule/cold", test_cold);
    g_test_add_func("/schedule/uneven", test_uneven);
    g_test_add_func("/schedule/slow", test_slow);
    g_test_add_func("/schedule/rest", test_rest);
    g_test_add_func("/schedule/screen", test_screen);
    return g_test_run();
}
