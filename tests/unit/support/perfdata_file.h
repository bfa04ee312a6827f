/* A performance data file as HotSpot writes it: a prologue, then one entry after the other. */
#ifndef JXPERF_TESTS_UNIT_SUPPORT_PERFDATA_FILE_H
#define JXPERF_TESTS_UNIT_SUPPORT_PERFDATA_FILE_H

#include <stdint.h>
#include <string.h>

struct perfdata_file {
	uint8_t bytes[8192];
	size_t size;
};

static void put32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

static uint32_t get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static void perfdata_file_init(struct perfdata_file *f)
{
	static const uint8_t prologue[8] = {0xca, 0xfe, 0xc0, 0xc0, 1, 2, 0, 1};

	memset(f, 0, sizeof(*f));
	memcpy(f->bytes, prologue, sizeof(prologue));
	put32(f->bytes + 24, 32);
	f->size = 32;
}

/* Appends an entry and returns its address. length 0: one number. */
static uint8_t *perfdata_file_add(struct perfdata_file *f, const char *name, char type,
				  const void *data, uint32_t length)
{
	uint32_t name_bytes = (uint32_t)strlen(name) + 1;
	uint32_t data_at = (20 + name_bytes + 7) & ~7u, data_bytes = length ? length : 8;
	uint32_t size = (data_at + data_bytes + 7) & ~7u;
	uint8_t *e = f->bytes + f->size;

	assert_true(f->size + size <= sizeof(f->bytes));
	put32(e, size);
	put32(e + 4, 20);
	put32(e + 8, length);
	e[12] = (uint8_t)type;
	put32(e + 16, data_at);
	memcpy(e + 20, name, name_bytes);
	memcpy(e + data_at, data, data_bytes);
	f->size += size;
	put32(f->bytes + 28, get32(f->bytes + 28) + 1);
	return e;
}

__attribute__((unused)) static void perfdata_file_add_string(struct perfdata_file *f,
							     const char *name, const char *value)
{
	(void)perfdata_file_add(f, name, 'B', value, (uint32_t)strlen(value) + 1);
}

/* Returns where in the file the number is. */
__attribute__((unused)) static size_t perfdata_file_add_number(struct perfdata_file *f,
							       const char *name, uint64_t value)
{
	const uint8_t *e = perfdata_file_add(f, name, 'J', &value, 0);

	return (size_t)(e - f->bytes) + get32(e + 16);
}

#endif
