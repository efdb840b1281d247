// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Mesa keeps compiled shaders in $XDG_CACHE_HOME and maps the index of that cache. The index has
// holes: a write to one on a full disk ends the program (SIGBUS). This gives the index its blocks,
// and switches the cache off for this process (MESA_SHADER_CACHE_DISABLE) where the disk has no
// room for them. Other drivers' caches do not suffer and are left alone.
//
// Call it first, while the process has one thread: it changes the environment.
void litho_shader_cache_guard(void);
