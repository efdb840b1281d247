// SPDX-License-Identifier: GPL-3.0-or-later
//
// Models that need no file. They are JSON like any other, so `flat` is also an example of the
// schema.
#include <string.h>

#include "kernels/twsm/model.h"

static const char flat[] =
    "{ \"layers\": [ { \"velocity\": 2000, \"density\": 2200 }, { \"velocity\": 3000, \"density\": "
    "2400 } ],"
    "  \"boundaries\": [ { \"type\": \"flat\", \"depth\": 1000 } ],"
    "  \"extent\": { \"x\": [-1500, 1500], \"y\": [-1500, 1500] },"
    "  \"wave_code\": \"0R\", \"source\": [0, 0, 0],"
    "  \"receivers\": { \"x\": [-1000, 50, 41], \"y\": [0, 50, 1], \"z\": 0 },"
    "  \"wavelet\": { \"ricker\": 20, \"delay\": 0 }, \"fmax\": 50, \"record\": 2.56, \"dt\": "
    "0.002 }";

static const char dipping[] =
    "{ \"layers\": [ { \"velocity\": 2000, \"density\": 2200 }, { \"velocity\": 2600, \"density\": "
    "2300 } ],"
    "  \"boundaries\": [ { \"type\": \"dipping\", \"depth\": 1000, \"dip_x\": 15 } ],"
    "  \"extent\": { \"x\": [-1800, 1500], \"y\": [-1500, 1500] },"
    "  \"wave_code\": \"0R\", \"source\": [0, 0, 0],"
    "  \"receivers\": { \"x\": [-1000, 50, 41], \"y\": [0, 50, 1], \"z\": 0 },"
    "  \"wavelet\": { \"ricker\": 20, \"delay\": 0 }, \"fmax\": 50, \"record\": 2.56, \"dt\": "
    "0.002 }";

// The focus of the trough lies below the receivers: three arrivals in the middle, a caustic at its
// edge (docs/twsm.md shows the record).
static const char syncline[] =
    "{ \"layers\": [ { \"velocity\": 2000, \"density\": 2200 }, { \"velocity\": 2600, \"density\": "
    "2300 } ],"
    "  \"boundaries\": [ { \"type\": \"gaussian\", \"depth\": 1000, \"amplitude\": 200, "
    "\"sigma_x\": 350 } ],"
    "  \"extent\": { \"x\": [-1500, 1500], \"y\": [-1200, 1200] },"
    "  \"wave_code\": \"0R\", \"source\": [0, 0, 0],"
    "  \"receivers\": { \"x\": [-1000, 25, 81], \"y\": [0, 50, 1], \"z\": 0 },"
    "  \"wavelet\": { \"ricker\": 25, \"delay\": 0 }, \"fmax\": 62.5, \"record\": 2.56, \"dt\": "
    "0.002 }";

static const char dome[] =
    "{ \"layers\": [ { \"velocity\": 2000, \"density\": 2200 }, { \"velocity\": 3000, \"density\": "
    "2400 } ],"
    "  \"boundaries\": [ { \"type\": \"gaussian\", \"depth\": 1100, \"amplitude\": -250, "
    "\"sigma_x\": 400,"
    "                    \"sigma_y\": 400 } ],"
    "  \"extent\": { \"x\": [-1500, 1500], \"y\": [-1500, 1500] },"
    "  \"wave_code\": \"0R\", \"source\": [0, 0, 0],"
    "  \"receivers\": { \"x\": [-1000, 50, 41], \"y\": [-1000, 100, 21], \"z\": 0 },"
    "  \"wavelet\": { \"ricker\": 20, \"delay\": 0 }, \"fmax\": 50, \"record\": 2.56, \"dt\": "
    "0.002 }";

static const char twolayer[] =
    "{ \"layers\": [ { \"velocity\": 2000, \"density\": 2200 }, { \"velocity\": 2600, \"density\": "
    "2300 },"
    "              { \"velocity\": 3200, \"density\": 2500 } ],"
    "  \"boundaries\": [ { \"type\": \"flat\", \"depth\": 600 }, { \"type\": \"flat\", \"depth\": "
    "1300 } ],"
    "  \"extent\": { \"x\": [-1800, 1800], \"y\": [-1800, 1800] },"
    "  \"wave_code\": [\"0R\", \"0T 1R 0T\"], \"source\": [0, 0, 0],"
    "  \"receivers\": { \"x\": [-1200, 50, 49], \"y\": [0, 50, 1], \"z\": 0 },"
    "  \"wavelet\": { \"ricker\": 20, \"delay\": 0 }, \"fmax\": 50, \"record\": 2.56, \"dt\": "
    "0.002 }";

// Zyatkov et al. 2016 propagate between two curved boundaries of 112,000 elements at 128
// frequencies; these are of that size, of our own shape.
static const char published[] =
    "{ \"layers\": [ { \"velocity\": 2600, \"density\": 2300 }, { \"velocity\": 2000, \"density\": "
    "2200 },"
    "              { \"velocity\": 3000, \"density\": 2500 } ],"
    "  \"boundaries\": [ { \"type\": \"gaussian\", \"depth\": 800, \"amplitude\": 150, "
    "\"sigma_x\": 600, "
    "\"sigma_y\": 700 },"
    "                  { \"type\": \"gaussian\", \"depth\": 1600, \"amplitude\": -200, "
    "\"sigma_x\": "
    "800, \"sigma_y\": 600 } ],"
    "  \"extent\": { \"x\": [-1896, 1896], \"y\": [-1896, 1896] },"
    "  \"wave_code\": \"0T 1R\", \"source\": [0, 0, 0],"
    "  \"receivers\": { \"x\": [-1000, 50, 41], \"y\": [0, 50, 1], \"z\": 1000 },"
    "  \"wavelet\": { \"ricker\": 20, \"delay\": 0 }, \"fmax\": 50, \"record\": 2.56, \"dt\": "
    "0.002 }";

static const char *const names[] = {"flat",     "dipping",   "syncline", "dome",
                                    "twolayer", "published", NULL};
static const char *const texts[] = {flat, dipping, syncline, dome, twolayer, published};

const char *const *twsm_model_names(void)
{
    return names;
}

const char *twsm_model_text(const char *name)
{
    for (int k = 0; names[k]; k++)
        if (strcmp(names[k], name) == 0)
            return texts[k];
    return NULL;
}
