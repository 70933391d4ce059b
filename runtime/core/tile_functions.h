/* Functions on tiles: runtime/reference/tile_functions.py says what each computes.
 *
 * Elements are computed row by row, in buffers of floats or of integers of 64 bits, in the type of the destination.
 * A new function is a row of operations/tile_functions.py and a `tile_NAME` in one of the files tile_*.c.
 */
#ifndef LOOM_TILE_FUNCTIONS_H
#define LOOM_TILE_FUNCTIONS_H

#include "chip.h"
#include "tile_table.h"

/* Each returns false, and has done nothing, if the shapes do not belong together. */
#define DECLARE(number, name) bool tile_##name(struct tile_call *call);
TILE_FUNCTIONS(DECLARE)
#undef DECLARE

#endif
