#include "tile_elements.h"

void read_floats(float *out, const uint8_t *at, int64_t stride, int64_t count, int element) {
#define READ(T, value_of)                                                                                              \
    for (int64_t k = 0; k < count; k++) {                                                                              \
        T bits;                                                                                                        \
        memcpy(&bits, at + k * stride, sizeof bits);                                                                   \
        out[k] = value_of(bits);                                                                                       \
    }
    switch (element) {
    case E_F32:
        if (stride == 4) {
            memcpy(out, at, (size_t)count * 4);
        } else {
            READ(uint32_t, value_f32)
        }
        break;
    case E_F16: READ(uint16_t, value_f16) break;
    case E_BF16: READ(uint16_t, value_bf16) break;
    case E_E4M3: READ(uint8_t, value_e4m3) break;
    default: READ(uint8_t, value_e5m2) break;
    }
}

void read_integers(int64_t *out, const uint8_t *at, int64_t stride, int64_t count, int element) {
#define SAME(bits) (int64_t)(bits)
    switch (element) {
    case E_I32: READ(int32_t, SAME) break;
    case E_I16: READ(int16_t, SAME) break;
    case E_I8: READ(int8_t, SAME) break;
    case E_U32: READ(uint32_t, SAME) break;
    case E_U16: READ(uint16_t, SAME) break;
    case E_U8: READ(uint8_t, SAME) break;
    default: READ(int64_t, SAME) break;
    }
#undef SAME
#undef READ
}

void write_floats(uint8_t *at, int64_t stride, int64_t count, int element, const float *values) {
#define WRITE(T, bits_of)                                                                                              \
    for (int64_t k = 0; k < count; k++) {                                                                              \
        T bits = bits_of(values[k]);                                                                                   \
        memcpy(at + k * stride, &bits, sizeof bits);                                                                   \
    }
    switch (element) {
    case E_F32:
        if (stride == 4) {
            memcpy(at, values, (size_t)count * 4);
        } else {
            WRITE(uint32_t, bits_f32)
        }
        break;
    case E_F16: WRITE(uint16_t, bits_f16) break;
    case E_BF16: WRITE(uint16_t, bits_bf16) break;
    case E_E4M3: WRITE(uint8_t, bits_e4m3) break;
    default: WRITE(uint8_t, bits_e5m2) break;
    }
}

void write_integers(uint8_t *at, int64_t stride, int64_t count, int element, const int64_t *values) {
    switch (element_bytes(element)) {
    case 1: WRITE(uint8_t, (uint8_t)) break;
    case 2: WRITE(uint16_t, (uint16_t)) break;
    case 4: WRITE(uint32_t, (uint32_t)) break;
    default: WRITE(uint64_t, (uint64_t)) break;
    }
#undef WRITE
}

double load_double(const uint8_t *at, int element) {
    double value;
    if (element == E_F64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    float narrow;
    read_floats(&narrow, at, 4, 1, element);
    return (double)narrow;
}

static bool is_floating(int element) { return is_float_element(element) || element == E_F64; }

void read_as_floats(float *out, const uint8_t *at, int64_t stride, int64_t count, int element, int as) {
    if (element == as || (as == E_F32 && is_float_element(element))) {
        read_floats(out, at, stride, count, element);
        return;
    }
    for (int64_t k = 0; k < count; k++) {
        double value;
        if (is_floating(element)) {
            value = load_double(at + k * stride, element);
        } else {
            int64_t integer;
            read_integers(&integer, at + k * stride, stride, 1, element);
            value = double_of_integer(integer, element);
        }
        out[k] = value_of_bits(nearest_bits(value, as), as);
    }
}

void read_as_integers(int64_t *out, const uint8_t *at, int64_t stride, int64_t count, int element, int as) {
    if (is_floating(element)) {
        for (int64_t k = 0; k < count; k++) {
            out[k] = held_integer(trunc(load_double(at + k * stride, element)), as);
        }
        return;
    }
    read_integers(out, at, stride, count, element);
    if (element != as) {
        for (int64_t k = 0; k < count; k++) {
            out[k] = wrapped(out[k], as);
        }
    }
}

void write_typed(uint8_t *at, int64_t stride, int64_t count, int element, const uint8_t *from,
                        int64_t from_stride, int from_element) {
    for (int64_t first = 0; first < count; first += CHUNK) {
        int64_t some = count - first < CHUNK ? count - first : CHUNK;
        if (is_float_element(element)) {
            float values[CHUNK];
            read_as_floats(values, from + first * from_stride, from_stride, some, from_element, element);
            write_floats(at + first * stride, stride, some, element, values);
        } else {
            int64_t values[CHUNK];
            read_as_integers(values, from + first * from_stride, from_stride, some, from_element, element);
            write_integers(at + first * stride, stride, some, element, values);
        }
    }
}

void write_typed_float(uint8_t *at, int element, float value) {
    if (is_float_element(element)) {
        write_floats(at, 0, 1, element, &value);
    } else {
        int64_t integer = held_integer(trunc((double)value), element);
        write_integers(at, 0, 1, element, &integer);
    }
}

void write_typed_integer(uint8_t *at, int element, int64_t value, int from) {
    if (is_float_element(element)) {
        float nearest = value_of_bits(nearest_bits(double_of_integer(value, from), element), element);
        write_floats(at, 0, 1, element, &nearest);
    } else {
        write_integers(at, 0, 1, element, &value);
    }
}

void adopt_type(struct tile_call *call, int k) {
    struct tile_view *view = &call->sources[k];
    int element = call->destination.element;
    int64_t size = element_bytes(element), length = row_length(view);
    if (view->element == element) {
        return;
    }
    uint8_t *bytes = scratch_for(call->of, 3 + k, (uint64_t)(count_of(view) * size) + 1), *at = bytes;
    for (struct rows rows = rows_of(view); rows.left > 0; next_row(&rows)) {
        write_typed(at, size, length, element, rows.at, row_stride(view), view->element);
        at += length * size;
    }
    view->at = bytes;
    view->element = element;
    for (int d = view->rank; d-- > 0;) {
        view->strides[d] = size;
        size *= view->extents[d];
    }
}
