#include "tile_functions.h"

bool compute_tiles(struct tile_call *call) {
    switch (call->row->function) {
#define CALL(number, name)                                                                                             \
    case number: return tile_##name(call);
        TILE_FUNCTIONS(CALL)
#undef CALL
    default: abort(); /* checked tables have no other */
    }
}
