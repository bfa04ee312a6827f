/*
 * Fuzzes the reader of a jar's manifest: the zip file, what it unpacks, and the attributes.
 * libFuzzer entry point.
 *
 * The first byte chooses: a whole file, or the text of a manifest in a heap block of exactly its
 * size, which files that were packed by chance never get to.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/inspector/jar_manifest.h"
#include "daemon/inspector/zip_entry.h"

#define ROOM 512u

static void fuzz_manifest(const char *text, size_t size, bool whole)
{
	char *exact = malloc(size), version[JAR_VERSION_BYTES] = "";

	if (size > 0)
		memcpy(exact, text, size);
	if (jar_manifest_version(exact, size, whole, version) < 0 ? version[0] : !version[0])
		abort();
	free(exact);
}

static void fuzz_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jar", MFD_CLOEXEC);
	char *text = malloc(ROOM);
	bool whole = false;
	ssize_t n;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	n = zip_entry_read(fd, "META-INF/MANIFEST.MF", text, ROOM, &whole);
	if (n > (ssize_t)ROOM)
		abort();
	if (n >= 0)
		fuzz_manifest(text, (size_t)n, whole);
	free(text);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	if (data[0] % 4 == 0)
		fuzz_manifest((const char *)data + 1, size - 1, data[0] % 8 == 0);
	else
		fuzz_file(data + 1, size - 1);
	return 0;
}
