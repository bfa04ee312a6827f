/* Fuzzes the reader of pprof profiles. libFuzzer entry point. */
#include "tests/fuzz/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_import(IMPORT_PPROF, data, size);
}
