// SPDX-License-Identifier: GPL-3.0-or-later
//
// Automatic gain control: each sample is divided by the root mean square of the window around it.
// cc -O2 -o agc agc.c -lm
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A number of the request's second line; `def` where there is none.
static double number(const char *line, const char *key, double def)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : def;
}

static void gain(const float *in, float *out, long n, long half)
{
    for (long t = 0; t < n; t++) {
        double sum = 0;
        long used = 0;
        for (long k = t - half; k <= t + half; k++)
            if (k >= 0 && k < n) {
                sum += (double)in[k] * in[k];
                used++;
            }
        out[t] = sum > 0 ? (float)(in[t] / sqrt(sum / used)) : 0;
    }
}

int main(void)
{
    static char sizes[4096], about[65536];
    long n[3];
    while (fgets(sizes, sizeof sizes, stdin) && fgets(about, sizeof about, stdin)) {
        if (sscanf(sizes, "LITHO-CUBE 1 %ld %ld %ld", &n[0], &n[1], &n[2]) != 3)
            return 1;
        const double dt_ms = 1000 * number(about, "sample_interval", 0.004);
        const long half = lround(number(about, "window", 500) / dt_ms / 2);
        float *in = malloc(sizeof *in * (size_t)n[2]), *out = malloc(sizeof *out * (size_t)n[2]);
        printf("LITHO-CUBE 1 %ld %ld %ld\n", n[0], n[1], n[2]);
        for (long trace = 0; trace < n[0] * n[1]; trace++) {
            if (!in || !out || fread(in, sizeof *in, (size_t)n[2], stdin) != (size_t)n[2])
                return 1;
            gain(in, out, n[2], half);
            fwrite(out, sizeof *out, (size_t)n[2], stdout);
        }
        fflush(stdout);
        free(in);
        free(out);
    }
    return 0;
}
