// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "core/operator.h"

// Files that an operator's samples depend on beside its parameters: of an operator that is the
// user's own program, the panel and the files that its command names. They are noted at start,
// before there are threads, and asked by any thread.

void litho_operator_files_note(const LithoOperator *op, const char *path);
// Borrowed, NULL-terminated; NULL = there are none.
char *const *litho_operator_files(const LithoOperator *op);
