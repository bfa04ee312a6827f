/* Fuzzes the reader of collapsed stacks. libFuzzer entry point. */
#include "tests/fuzz/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_import(IMPORT_COLLAPSED, data, size);
}
