/* One scalar operation by its number, for tests and whoever has no interpreter at hand. */
#include "core.h"
#include "scalar.h"
#include "scalar_table.h"

int64_t loom_scalar(uint32_t number, int64_t a, int64_t b, int64_t c) {
    switch (number) {
#define UNARY(number, name) case number: return name(b);
#define BINARY(number, name) case number: return name(b, c);
#define TERNARY(number, name) case number: return name(b, c, a);
        SCALARS(UNARY, BINARY, TERNARY)
    default: return 0;
    }
}
