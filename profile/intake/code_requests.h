/*
 * The code that a part of a window's intake wants to have analysed: it is met, asked for, comes as
 * an image, waits for its analysis (daemon/engine/code_work.h), and is known, or never will be. For
 * the loops (profile/intake/loop_session.h) and for who makes accesses
 * (profile/intake/attribution_intake.h), each of which keeps a table of codes whose rows begin with
 * a struct wanted_code.
 */
#ifndef JXPERF_PROFILE_INTAKE_CODE_REQUESTS_H
#define JXPERF_PROFILE_INTAKE_CODE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/intake/method_intake.h"
#include "profile/loops/code_image.h"
#include "proto/jxperf.pb-c.h"

/* Codes that were asked for and are not analysed, at a time. */
#define CODES_OPEN_MAX 4u

/* Who wants code, each for himself. */
enum code_use {
	CODE_FOR_LOOPS,
	CODE_FOR_MAKERS, /* of accesses */
	CODE_USES
};

enum code_state {
	CODE_MET,
	CODE_ASKED, /* for its image, */
	CODE_HERE,  /* which is being analysed */
	CODE_KNOWN,
	CODE_MADE_ROOM, /* it was known, and is asked for when it is needed again */
	CODE_GONE,      /* it never will be */
};

struct wanted_code {
	uint64_t number; /* the agent's; the key of its table */
	enum code_state state;
	uint32_t *announced; /* from HERE on: of its methods, the positions in methods */
};

#define WANTED_CODE_KEY_WORDS (sizeof(uint64_t) / sizeof(uint32_t))

/* All zero has asked for nothing. */
struct code_requests {
	unsigned asked, open;                     /* in all, and not analysed */
	struct code_image images[CODES_OPEN_MAX]; /* that wait to be analysed */
	size_t image_count;
};

void code_requests_release(struct code_requests *q);

/* The code is asked for; fewer than CODES_OPEN_MAX are open. */
void code_requests_ask(struct code_requests *q, struct wanted_code *code);

/* The image of an open code has come: 1, and it waits, the last of all; 0: there is none, or it is
 * wrong, and the code is given up; -ENOMEM likewise. *lost grows by what was dropped of it. */
int code_requests_image(struct code_requests *q, const struct method_intake *methods,
			struct wanted_code *code, const Jxp__CodeImage *m, uint64_t *lost);

/* Takes the image that waits longest, for the caller to release; *number is its code's. */
bool code_requests_take(struct code_requests *q, struct code_image *image, uint64_t *number);

/* What came of an analysis: 0, and the code is known, or why there is none, and it is given up.
 * *lost grows by those that were too large. */
void code_requests_done(struct code_requests *q, struct wanted_code *code, int error,
			uint64_t *lost);

/* Heap bytes of images. */
size_t code_requests_memory_bytes(const struct code_requests *q);

#endif
