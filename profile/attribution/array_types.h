/*
 * Which type the arrays have that a method's bytecodes access: what descriptors say of fields,
 * parameters and results, followed along the bytecodes through variables and the stack.
 *
 * What is not known is left open, and so is what comes differently by different ways. Exceptions
 * are not followed: where one is caught, nothing is known. Pure, any thread; the bytecodes are
 * hostile.
 */
#ifndef JXPERF_PROFILE_ATTRIBUTION_ARRAY_TYPES_H
#define JXPERF_PROFILE_ATTRIBUTION_ARRAY_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/loops/code_image.h"

/* Dimensions, and the letter of what is in the innermost: ARRAY_TYPE_UNKNOWN, or ARRAY_TYPE. Of
 * references, L, the elements may be arrays. */
#define ARRAY_TYPE(dimensions, letter) ((uint16_t)((dimensions) << 8 | (uint8_t)(letter)))
#define ARRAY_TYPE_UNKNOWN             ((uint16_t)0)

/* Fills image->array_types. 0 or -ENOMEM. */
int array_types_make(struct code_image *image);

/* The array that the bytecode of a method at bci, an access to an element or a length, is given. */
uint16_t array_type_at(const struct code_image *image, uint32_t method, uint32_t bci);

/* May an array of that type be of a class by its Java name, as "int[][]"? */
bool array_type_may_be(uint16_t type, const char *class_name);

#endif
