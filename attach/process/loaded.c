#include "attach/process/loaded.h"

#include "attach/process/hsperfdata.h"
#include "common/saturate.h"
#include "proto/footprint.h"

#include <string.h>

/* No JVM has more; so sums of what it claims do not overflow. */
#define CLASSES_MAX UINT64_C(100000000)
#define METHODS_MAX UINT64_C(1000000000)

/* sizeof(Method) in HotSpot, JDK 17 to 25, for each of which sun.cls.methodBytes grows. */
#define METHOD_BYTES 88u

/* Classes of the JDK's own archive have as many (JDK 17 and 25: 20.3 and 19.2). */
#define METHODS_OF_ARCHIVED 20u

/* Where others were unloaded, those that stay have no fewer than usual: what comes and goes in
 * great numbers is small (hidden classes of lambdas and method handles). */
#define METHODS_USUAL 12u

/* Without any counter: a server has some 16 KiB of memory of its own, beside its heap, for a class
 * at least. */
#define BYTES_A_CLASS (UINT64_C(16) << 10)

static uint64_t number(const void *perfdata, size_t bytes, const char *name, uint64_t most)
{
	size_t offset;
	uint64_t value;

	if (!hsperfdata_number(perfdata, bytes, name, &offset))
		return 0;
	memcpy(&value, (const char *)perfdata + offset, sizeof(value));
	return value < most ? value : most;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of classes that were parsed: so many methods in all, of which some went with their classes. */
static uint64_t methods_left(uint64_t parsed, uint64_t classes, uint64_t unloaded)
{
	uint64_t left = saturate_less(classes, unloaded), in_proportion, usual;

	if (unloaded == 0 || classes == 0)
		return parsed;
	in_proportion = (uint64_t)((double)parsed * (double)left / (double)classes);
	usual = left * METHODS_USUAL;
	/* Never more than there were. */
	return larger(in_proportion, usual < parsed ? usual : parsed);
}

void loaded_read(struct loaded *out, const void *perfdata, size_t bytes)
{
	uint64_t classes = number(perfdata, bytes, "java.cls.loadedClasses", CLASSES_MAX);
	uint64_t unloaded = number(perfdata, bytes, "java.cls.unloadedClasses", CLASSES_MAX);
	uint64_t archived =
	    saturate_less(number(perfdata, bytes, "java.cls.sharedLoadedClasses", CLASSES_MAX),
			  number(perfdata, bytes, "java.cls.sharedUnloadedClasses", CLASSES_MAX));
	uint64_t parsed =
	    number(perfdata, bytes, "sun.cls.methodBytes", METHODS_MAX * METHOD_BYTES) /
	    METHOD_BYTES;

	*out = (struct loaded){
	    .classes = saturate_less(classes, unloaded) + archived,
	    .methods = methods_left(parsed, classes, unloaded) + archived * METHODS_OF_ARCHIVED,
	    .guessed = classes + archived == 0,
	};
}

void loaded_guess(struct loaded *l, uint64_t anonymous_bytes)
{
	if (!l->guessed)
		return;
	l->classes = anonymous_bytes / BYTES_A_CLASS;
	l->methods = l->classes * METHODS_USUAL;
}

uint64_t loaded_id_bytes(const struct loaded *l)
{
	return saturate_less(l->classes, l->classes_with_ids) * FOOTPRINT_CLASS_BYTES +
	       saturate_less(l->methods, l->methods_with_ids) * FOOTPRINT_METHOD_BYTES;
}

uint64_t loaded_attach_bytes(const struct loaded *l)
{
	return FOOTPRINT_IDLE_BYTES + loaded_id_bytes(l);
}
