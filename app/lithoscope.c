// SPDX-License-Identifier: GPL-3.0-or-later
//
// The desktop program.
#include "core/calm.h"
#include "core/io/output.h"
#include "core/memory.h"
#include "core/text.h"
#include "kernels/external/external.h"
#include "kernels/kernels.h"
#include "render/shader_cache.h"
#include "ui/window/application.h"

int main(int argc, char **argv)
{
    litho_threads_calm(argv);
    litho_outputs_keep_standard();
    litho_shader_cache_guard();
    litho_text_init();
    litho_kernels_init();
    g_autoptr(GError) error = NULL;
    if (!litho_memory_check_setting(&error) || !litho_external_init(&argc, argv, &error)) {
        g_printerr("lithoscope: %s\n", error->message);
        return 2;
    }
    g_autoptr(LithoApplication) app = litho_application_new();
    int status = g_application_run(G_APPLICATION(app), argc, argv);
    return status != 0 ? status : litho_application_status(app);
}
