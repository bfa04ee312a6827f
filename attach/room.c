#include "attach/room.h"

#include <unistd.h>

bool room_for(const struct statvfs *fs, uint64_t bytes)
{
	bool root = geteuid() == 0;
	uint64_t files = root ? fs->f_ffree : fs->f_favail;
	uint64_t blocks = root ? fs->f_bfree : fs->f_bavail;

	if (fs->f_files > 0 && files == 0)
		return false;
	return fs->f_blocks == 0 || fs->f_frsize == 0 || bytes / fs->f_frsize < blocks ||
	       bytes == 0;
}
