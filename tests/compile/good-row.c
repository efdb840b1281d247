// A rightly typed parameter row: must compile (the twin of bad-row.c).
#include "core/param.h"

typedef struct P {
    double value;
} P;
extern const LithoParam row;
const LithoParam row = LITHO_FLOAT(P, value, .label = "Value", .doc = "A number.");
