/* Data model of the core, part by part: the state of a machine, and what its parts provide to each other.
 *
 * A `struct core` is made from the arrays of checked tables and of a fabric, which outlive it; it owns the state of PEs
 * but not their memory. A PE has a clock of its own. Its tasks run in the interpreter; sends hand their wavelets over
 * at once, with time stamps, to the operations that wait for them or to the receiver's queue. order.c decides which PE
 * goes on: one whose next task is certain at any time, the others in the order of time.
 */
#ifndef LOOM_MACHINE_H
#define LOOM_MACHINE_H

/* Data, each part of the ones before */
#include "constants.h"    /* limits, cycles */
#include "findings.h"     /* errors and warnings: codes, records */
#include "descriptors.h"  /* walks of memory, runs of wavelets: struct descriptor */
#include "operations.h"   /* DSD operations, and how code applies them: struct operation, struct application */
#include "instructions.h" /* code of a function, prepared: struct use, struct instruction, struct frame */
#include "wavelets.h"     /* runs, ways with credits, sends that wait: struct run, struct path, struct send */
#include "waiting.h"      /* operations that wait, uses of queues and microthreads: struct open, struct resource */
#include "queues.h"       /* input and output queues, ends of FIFOs: struct queue, struct input, struct output */
#include "pes.h"          /* PEs and their classes: struct pe, struct task, struct class, struct tile */
#include "events.h"       /* what is in the heap, and how far PEs may go: struct event, struct epoch */
#include "inputs.h"       /* what Python hands over: struct core_input, struct timing */
#include "state.h"        /* the machine: struct core, and where the parts of a PE are */

/* What the sources provide to each other */
#include "pools.h"      /* memory */
#include "order.h"      /* which PE goes on, and until when */
#include "tasks.h"      /* tasks are activated, unblocked and picked */
#include "walks.h"      /* elements of descriptors, registers */
#include "short_ways.h" /* frequent operations */
#include "execution.h"  /* all operations, FIFOs, resources */
#include "routing.h"    /* switches, configuration registers, directives, messages */
#include "transport.h"  /* wavelets are sent, held back, delivered and taken */
#include "observers.h"  /* traces, statistics */

#endif
