/* Rows of elements, read into buffers of floats or of integers of 64 bits, and written from them. */
#ifndef LOOM_TILE_ELEMENTS_H
#define LOOM_TILE_ELEMENTS_H

#include "tile_views.h"

/* Elements read at once into a buffer. */
enum { CHUNK = 256 };

/* Elements of a type of floats, or of integers, `stride` bytes apart. */
void read_floats(float *out, const uint8_t *at, int64_t stride, int64_t count, int element);
void read_integers(int64_t *out, const uint8_t *at, int64_t stride, int64_t count, int element);
void write_floats(uint8_t *at, int64_t stride, int64_t count, int element, const float *values);
void write_integers(uint8_t *at, int64_t stride, int64_t count, int element, const int64_t *values);

/* Returns a float of any type. */
double load_double(const uint8_t *at, int element);

/* Reads elements of any type as floats of another, rounded to it. */
void read_as_floats(float *out, const uint8_t *at, int64_t stride, int64_t count, int element, int as);

/* Reads elements of any type as integers of another: floats without their fraction, integers without upper bits. */
void read_as_integers(int64_t *out, const uint8_t *at, int64_t stride, int64_t count, int element, int as);

/* Writes one number to an element of any type. */
void write_typed_float(uint8_t *at, int element, float value);
void write_typed_integer(uint8_t *at, int element, int64_t value, int from);

/* Writes elements of any type to a row of another. */
void write_typed(uint8_t *at, int64_t stride, int64_t count, int element, const uint8_t *from, int64_t from_stride,
                 int from_element);

/* Gives a source the type of the destination, elsewhere if it has another. */
void adopt_type(struct tile_call *call, int k);

#endif
