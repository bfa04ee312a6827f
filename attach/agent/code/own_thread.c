#include "attach/agent/code/own_thread.h"

#include <link.h>
#include <stdbool.h>

#include "attach/agent/code/safe_read.h"

/* glibc has the number of rows before row 0, and marks what was not allocated yet; musl has it in
 * row 0, and allocates all beforehand. */
#define ROW_GLIBC   16u
#define ROW_MUSL    8u
#define UNALLOCATED UINT64_MAX

/* What cannot be read is no memory. */
static uint64_t read_word(uint64_t address)
{
	uint64_t word;

	return safe_read(address, &word, sizeof(word)) ? word : 0;
}

/* 0: there is none. */
static uint64_t memory_in(uint32_t stride, uint64_t module)
{
	uint64_t table, rows, memory;

	__asm__("mov %%fs:8, %0" : "=r"(table));
	if (!table)
		return 0;
	rows = memory_word(stride == ROW_GLIBC ? table - stride : table);
	if (module == 0 || module > rows)
		return 0;
	memory = memory_word(table + module * stride);
	return memory == UNALLOCATED ? 0 : memory;
}

struct segment_search {
	uint64_t address;
	struct own_memory found;
};

static bool is_in(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		uint64_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && address >= begin &&
		    address - begin < info->dlpi_phdr[i].p_memsz)
			return true;
	}
	return false;
}

static uint64_t bytes_of(const struct dl_phdr_info *info)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS)
			return info->dlpi_phdr[i].p_memsz;
	return 0;
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct segment_search *s = arg;
	uint64_t memory = (uintptr_t)info->dlpi_tls_data, module = info->dlpi_tls_modid;
	uint32_t stride;

	(void)size;
	if (!is_in(info, s->address))
		return 0;
	if (!memory)
		return 1;
	stride = 0;
	if (memory_in(ROW_GLIBC, module) == memory)
		stride = ROW_GLIBC;
	else if (memory_in(ROW_MUSL, module) == memory)
		stride = ROW_MUSL;
	if (stride)
		s->found =
		    (struct own_memory){.begin = {.stride = stride, .module = (uint32_t)module},
					.address = memory,
					.bytes = bytes_of(info)};
	return 1;
}

struct own_memory own_memory_of(const void *address)
{
	struct segment_search s = {.address = (uintptr_t)address};

	(void)dl_iterate_phdr(look, &s);
	return s.found;
}

uint64_t own_word_read(const struct own_word *word)
{
	uint64_t memory = word->stride ? memory_in(word->stride, word->module) : 0;

	return memory ? memory_word(memory + word->offset) : 0;
}

/* pthread_self() is the address that fs has (x86-64's ABI for such memory). */
uint64_t own_word_of(uint64_t pthread, const struct own_word *word)
{
	uint64_t table = word->stride ? read_word(pthread + 8) : 0, rows, memory;

	if (!table)
		return 0;
	rows = read_word(word->stride == ROW_GLIBC ? table - ROW_GLIBC : table);
	if (word->module > rows)
		return 0;
	memory = read_word(table + (uint64_t)word->module * word->stride);
	return memory && memory != UNALLOCATED ? read_word(memory + word->offset) : 0;
}
