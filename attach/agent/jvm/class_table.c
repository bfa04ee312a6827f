#include "attach/agent/jvm/class_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Half full at most, so probe sequences stay short. */
#define SLOTS (2 * CLASSES_MAX)

/* Global because the callback that interns gets nothing of ours. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *signatures[CLASSES_MAX + 1]; /* by number */
static uint16_t slots[SLOTS];             /* numbers, 0: empty */
static uint32_t count;
static size_t text_bytes;

#define MALLOC_BYTES 16u

/* FNV-1a. */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 16777619u;
	return h;
}

static uint32_t add_locked(uint16_t *slot, const char *signature)
{
	size_t bytes = strlen(signature) + 1 + MALLOC_BYTES;
	char *copy = NULL;

	if (count < CLASSES_MAX && bytes <= CLASS_TEXT_BYTES - text_bytes)
		copy = strdup(signature);
	if (!copy)
		return 0;
	text_bytes += bytes;
	signatures[++count] = copy;
	*slot = (uint16_t)count;
	return count;
}

static uint32_t intern_locked(const char *signature)
{
	for (uint32_t i = hash(signature);; i++) {
		uint16_t *slot = &slots[i % SLOTS];

		if (*slot == 0)
			return add_locked(slot, signature);
		if (strcmp(signatures[*slot], signature) == 0)
			return *slot;
	}
}

uint32_t class_table_intern(const char *signature)
{
	uint32_t id;

	(void)pthread_mutex_lock(&lock);
	id = intern_locked(signature);
	(void)pthread_mutex_unlock(&lock);
	return id;
}

const char *class_table_signature(uint32_t id)
{
	const char *signature;

	(void)pthread_mutex_lock(&lock);
	signature = id >= 1 && id <= count ? signatures[id] : NULL;
	(void)pthread_mutex_unlock(&lock);
	return signature;
}

void class_table_clear(void)
{
	(void)pthread_mutex_lock(&lock);
	for (uint32_t i = 1; i <= count; i++) {
		free(signatures[i]);
		signatures[i] = NULL;
	}
	memset(slots, 0, sizeof(slots));
	count = 0;
	text_bytes = 0;
	(void)pthread_mutex_unlock(&lock);
}
