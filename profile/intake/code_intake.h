/*
 * Compiled code as an agent sends it (CodeImage), brought into the shape that can be analysed
 * (profile/loops/code_image.h): ids become positions, offsets ascend and lie in the code.
 *
 * Untrusted: an entry that refers to something unknown, is out of order, out of range or beyond a
 * limit is dropped and counted; so is an image without code, or whose method is not known.
 */
#ifndef JXPERF_PROFILE_INTAKE_CODE_INTAKE_H
#define JXPERF_PROFILE_INTAKE_CODE_INTAKE_H

#include <stdint.h>

#include "profile/intake/method_intake.h"
#include "profile/loops/code_image.h"

/* Fills *out, to be released by the caller, and *announced: of each of its methods the position in
 * methods, to be freed. *dropped grows by what was. 0; -EBADMSG where it is no image; -ENOMEM. */
int code_intake_image(const struct method_intake *methods, const Jxp__CodeImage *m,
		      struct code_image *out, uint32_t **announced, uint64_t *dropped);

/* Is a method of the JDK, or of a database driver, input or output: what many small ones of would
 * better be few large ones of? A reviewed list, no more; who only fills a buffer is none.
 * class_name: as Java has it, with dots. */
bool code_intake_is_io(const char *class_name, const char *name);

#endif
