/* Records of runtime/reports/rest.py that have files of their own. */
#ifndef LOOM_RECORDS_H
#define LOOM_RECORDS_H

#include <stdint.h>

struct at_router_record {
    uint32_t color, pe, port, position, taken;
    int64_t count;
};
struct message_record {
    uint32_t network, source, target, elements;
    uint8_t delivered;
    uint32_t blocker, at, port, holder_source, holder_target;
};

#endif
