#include "core.h"

const char *loom_sources(void) { return LOOM_SOURCES; }
