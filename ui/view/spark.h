// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include <gtk/gtk.h>

// Last values of one stage as a line without axes; for tables.
#define LITHO_TYPE_SPARK (litho_spark_get_type())
G_DECLARE_FINAL_TYPE(LithoSpark, litho_spark, LITHO, SPARK, GtkWidget)
GtkWidget *litho_spark_new(void);
void litho_spark_set(LithoSpark *self, guint n, const float *values);
