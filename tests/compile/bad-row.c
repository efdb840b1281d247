// A wrongly typed parameter row: must not compile.
#include "core/param.h"

typedef struct P {
    int value;
} P;
extern const LithoParam row;
const LithoParam row = LITHO_FLOAT(P, value, .label = "Value", .doc = "A number.");
