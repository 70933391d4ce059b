/* What the library exports. Python's side is library.py. */
#ifndef LOOM_CORE_H
#define LOOM_CORE_H

#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* Returns the hash of the sources that the library is built from. */
EXPORT const char *loom_sources(void);

/* Returns the result, as a register holds it, of a scalar operation of the tables on registers b, c and a, or 0 if there
 * is none with this number. */
EXPORT int64_t loom_scalar(uint32_t number, int64_t a, int64_t b, int64_t c);

#endif
