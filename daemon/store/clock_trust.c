#include "daemon/store/clock_trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/proc.h"

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define NOTE         "%39s %" SCNd64 " %" SCNu64 " %" SCNu64 " %" SCNu64
#define NO_BOOT_ID   "-" /* where it cannot be read */

bool clock_trust_restore(struct clock_trust *t, const char *note, size_t size)
{
	struct clock_trust found = {.known = true};
	char text[CLOCK_NOTE_BYTES];

	if (size >= sizeof(text))
		return false;
	memcpy(text, note, size);
	text[size] = '\0';
	if (sscanf(text, NOTE, found.boot_id, &found.offset_ns, &found.last_unix_ns,
		   &found.last_boot_ns, &found.even_ns) != 5)
		return false;
	*t = found;
	return true;
}

size_t clock_trust_note(const struct clock_trust *t, char note[CLOCK_NOTE_BYTES])
{
	return (size_t)snprintf(note, CLOCK_NOTE_BYTES,
				"%s %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64, t->boot_id,
				t->offset_ns, t->last_unix_ns, t->last_boot_ns,
				t->even_ns); /* Fits: four numbers of 20 digits. */
}

static void read_clocks(struct clock_trust *now)
{
	now->known = true;
	if (proc_read(BOOT_ID_FILE, now->boot_id, sizeof(now->boot_id)) <= 0)
		strcpy(now->boot_id, NO_BOOT_ID);
	now->boot_id[strcspn(now->boot_id, "\n")] = '\0';
	now->last_boot_ns = clock_ns(CLOCK_BOOTTIME);
	now->last_unix_ns = clock_ns(CLOCK_REALTIME);
	now->offset_ns = (int64_t)(now->last_unix_ns - now->last_boot_ns);
}

/* By how much the clock is another one than what was seen of it before lets expect. */
static int64_t set_by(const struct clock_trust *before, const struct clock_trust *now, bool same)
{
	return same ? now->offset_ns - before->offset_ns
		    : (int64_t)(now->last_unix_ns - before->last_unix_ns);
}

enum clock_verdict clock_trust_look(struct clock_trust *t, bool windows, int64_t *set_ns)
{
	const struct clock_trust before = *t;
	struct clock_trust now = {.known = false};
	bool same;

	read_clocks(&now);
	*set_ns = 0;
	same = strcmp(before.boot_id, now.boot_id) == 0 && now.last_boot_ns >= before.last_boot_ns;
	*t = now;
	/* A clock that nothing is kept of contradicts nothing. */
	if (!before.known) {
		t->even_ns = windows ? 0 : CLOCK_EVEN_NS;
		return windows ? CLOCK_UNKNOWN : CLOCK_EVEN;
	}
	*set_ns = set_by(&before, &now, same);
	if (*set_ns > (int64_t)CLOCK_SET_NS || *set_ns < -(int64_t)CLOCK_SET_NS)
		return CLOCK_WAS_SET;
	t->even_ns = before.even_ns;
	if (!same)
		return CLOCK_EVEN;
	t->offset_ns = before.offset_ns; /* So that many small steps are seen as one. */
	t->even_ns += now.last_boot_ns - before.last_boot_ns;
	if (t->even_ns > CLOCK_EVEN_NS)
		t->even_ns = CLOCK_EVEN_NS;
	return before.even_ns < CLOCK_EVEN_NS && t->even_ns == CLOCK_EVEN_NS ? CLOCK_TRUSTED
									     : CLOCK_EVEN;
}
