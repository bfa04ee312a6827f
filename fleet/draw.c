#include "fleet/draw.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/siphash.h"

/* Each draw is for one of these; draws are independent of each other. */
enum purpose {
	HOST,
	JVM,
	PLACE, /* the JVM's own in every epoch */
	JITTER,
};

/* Longer salts, names and ids are told apart by their first bytes, all of these together. */
#define MESSAGE_BYTES 1024

/* Uniform in [0, 1). The parts are separated by NULs, which none of them has. */
static double uniform(const struct draw *d, enum purpose purpose, uint64_t epoch, const char *jvm)
{
	static const uint64_t no_key[2] = {0, 0}; /* The salt is the key. */
	char message[MESSAGE_BYTES];
	int length =
	    snprintf(message, sizeof(message), "%s%c%s%c%s%c%s%c%d%c%llu", d->salt, 0, d->schedule,
		     0, d->host, 0, jvm, 0, (int)purpose, 0, (unsigned long long)epoch);
	size_t size = (size_t)length < sizeof(message) ? (size_t)length : sizeof(message);

	return (double)(siphash(no_key, message, size) >> 11) * 0x1p-53;
}

uint64_t draw_epoch(const struct draw *d, uint64_t unix_ns)
{
	return unix_ns / d->every_ns;
}

uint64_t draw_epoch_start(const struct draw *d, uint64_t epoch)
{
	return epoch * d->every_ns;
}

bool draw_takes_host(const struct draw *d, uint64_t epoch)
{
	return uniform(d, HOST, epoch, "") < d->host_fraction;
}

bool draw_takes_jvm(const struct draw *d, uint64_t epoch, const char *jvm)
{
	return uniform(d, JVM, epoch, jvm) < d->jvm_fraction;
}

uint64_t draw_start(const struct draw *d, uint64_t epoch, const char *jvm)
{
	double place = uniform(d, PLACE, 0, jvm) + d->jitter * uniform(d, JITTER, epoch, jvm);
	uint64_t room_ns = d->every_ns - d->window_ns;

	if (place >= 1)
		place -= 1; /* Round the epoch, so that all its parts stay equally likely. */
	return draw_epoch_start(d, epoch) + (uint64_t)(place * (double)room_ns);
}

double draw_weight_s(const struct draw *d)
{
	return (double)d->every_ns / (double)NS_PER_S / (d->host_fraction * d->jvm_fraction);
}
