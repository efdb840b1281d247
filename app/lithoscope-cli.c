// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdio.h>
#include <string.h>

#include "app/cli.h"
#include "kernels/kernels.h"

static const LithoCommand commands[] = {
    {"info", litho_cli_info, "what a seismic file holds"},
    {"convert", litho_cli_convert, "one file format to another"},
    {"list", litho_cli_list, "operators and their parameters"},
    {"run", litho_cli_run, "apply an operator or a recipe to a survey"},
    {"synth", litho_cli_synth, "generate a cube with known truth"},
    {"render", litho_cli_render, "slices or the 3-D scene as a picture"},
    {"bench", litho_cli_bench, "time an operator on every backend"},
    {"compare", litho_cli_compare, "SNR and other distances of two cubes"},
    {NULL},
};

static int usage(FILE *to)
{
    fprintf(to, "usage: lithoscope-cli COMMAND ...\n\n");
    for (const LithoCommand *c = commands; c->name; c++)
        fprintf(to, "  %-8s %s\n", c->name, c->what);
    fprintf(to, "\n'lithoscope-cli COMMAND --help' tells more.\n");
    return to == stdout ? LITHO_EXIT_OK : LITHO_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    litho_kernels_init();
    if (argc < 2)
        return usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return usage(stdout);
    for (const LithoCommand *c = commands; c->name; c++)
        if (strcmp(argv[1], c->name) == 0)
            return c->main(argc - 1, argv + 1);
    fprintf(stderr, "lithoscope-cli: there is no command '%s'\n", argv[1]);
    return usage(stderr);
}
