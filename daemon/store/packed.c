#include "daemon/store/packed.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "common/cleanup.h"

/* The fastest of zstd's levels that halve a profile. */
#define COMPRESSION_LEVEL 3

int packed_new(const uint8_t *plain, size_t plain_size, uint8_t **bytes, size_t *size)
{
	size_t room = ZSTD_compressBound(plain_size), used;
	_cleanup_free_ uint8_t *out = malloc(room);
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (!out || !context) {
		ZSTD_freeCCtx(context);
		return -ENOMEM;
	}
	/* Neither fails: both are parameters that there are, and their values are in range. */
	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
	(void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	used = ZSTD_compress2(context, out, room, plain, plain_size);
	ZSTD_freeCCtx(context);
	if (ZSTD_isError(used))
		return -ENOMEM; /* There is room, so nothing else can be missing. */
	*size = used;
	*bytes = TAKE_PTR(out);
	return 0;
}

int packed_open(const uint8_t *bytes, size_t size, size_t max, uint8_t **plain, size_t *plain_size,
		struct err *err)
{
	unsigned long long wanted = ZSTD_getFrameContentSize(bytes, size);
	_cleanup_free_ uint8_t *out = NULL;
	size_t used;

	if (wanted == ZSTD_CONTENTSIZE_ERROR || wanted == ZSTD_CONTENTSIZE_UNKNOWN || wanted > max)
		return err_set(err, EBADMSG, "its record is damaged: no size that can be");
	out = malloc(wanted ? (size_t)wanted : 1);
	if (!out)
		return err_set(err, ENOMEM, "out of memory for its record");
	used = ZSTD_decompress(out, (size_t)wanted, bytes, size);
	if (ZSTD_isError(used))
		return err_set(err, EBADMSG, "its record is damaged: %s", ZSTD_getErrorName(used));
	*plain_size = used;
	*plain = TAKE_PTR(out);
	return 0;
}
