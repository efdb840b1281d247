// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/bytes.h"

#include <errno.h>
#include <unistd.h>

gint64 litho_read_at(int fd, void *bytes, gint64 n, gint64 at)
{
    gint64 done = 0;
    while (done < n) {
        const gssize got = pread(fd, (char *)bytes + done, (gsize)(n - done), at + done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += got;
    }
    return done;
}
