/*
 * The headers of objects: mark word, class, and of an array its length (markWord.hpp, oop.hpp,
 * arrayOop.hpp). Async-signal-safe.
 */
#ifndef JXPERF_AGENT_PLACE_OBJECT_HEADER_H
#define JXPERF_AGENT_PLACE_OBJECT_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/agent/place/klass.h"
#include "attach/agent/place/object_layout.h"

/* With room for the widest. */
#define OBJECT_HEADER_WORDS 3u
#define OBJECT_HEADER_BYTES (OBJECT_HEADER_WORDS * sizeof(uint64_t))

/* As much of it as there is; the rest of words is unchanged. False where there is less than one. */
bool object_header_read(const struct object_layout *layout, uint64_t object,
			uint64_t words[OBJECT_HEADER_WORDS]);

/* Can an object of the application's have this mark word? Not one that is being moved. */
bool object_header_is_mark(const struct object_layout *layout, uint64_t mark);

/* The Klass that the first two words name, or something else; 0: none. */
uint64_t object_header_class(const struct object_layout *layout, const uint64_t *words);

/* The size of the object at this address, which is of this class; 0: not known. */
uint64_t object_header_object_bytes(const struct object_layout *layout, uint64_t object,
				    const struct klass *klass,
				    const uint64_t words[OBJECT_HEADER_WORDS]);

/* Where the header of an object ends that is no array. */
uint32_t object_header_end(const struct object_layout *layout);

#endif
