/* What the library exports. Python's side is library.py. */
#ifndef LOOM_CORE_H
#define LOOM_CORE_H

#define EXPORT __attribute__((visibility("default")))

/* Returns the hash of the sources that the library is built from. */
EXPORT const char *loom_sources(void);

#endif
