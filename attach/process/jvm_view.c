#include "attach/process/jvm_view.h"

#include "attach/process/hsperfdata.h"
#include "attach/process/jvm_step.h"
#include "attach/process/jvm_text.h"
#include "common/cleanup.h"
#include "proto/helper.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define READ_CHUNK_BYTES    16384u
#define ARGUMENTS_MAX_BYTES (2u << 20) /* ARG_MAX's usual value */
#define PATH_BYTES          64

/* Reads to the end or to the buffer's limit, and adds a NUL that is not counted. */
static int read_all(int fd, struct buffer *b)
{
	for (;;) {
		uint8_t *to = buffer_reserve(b, READ_CHUNK_BYTES);
		ssize_t n;

		if (!to)
			break;
		n = read(fd, to, READ_CHUNK_BYTES - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		to[n] = '\0';
		buffer_commit(b, (size_t)n);
		if (n == 0)
			return 0;
	}
	/* The limit: what is beyond it is not looked at. The NUL is where the last read put it. */
	return buffer_length(b) > 0 ? 0 : -ENOMEM;
}

static int read_proc(pid_t pid, const char *file, struct buffer *b)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_BYTES];
	int r;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	r = fd < 0 ? -errno : read_all(fd, b);
	if (r < 0)
		buffer_clear(b);
	return r;
}

static int read_maps(struct jvm_view *v)
{
	struct buffer text;
	int r;

	buffer_init(&text, MAPS_TEXT_MAX + READ_CHUNK_BYTES);
	r = read_proc(v->pid, "maps", &text);
	if (r == 0)
		maps_scan(&v->maps, (const char *)buffer_head(&text), buffer_length(&text),
			  AGENT_LIBRARY);
	buffer_release(&text);
	return r;
}

static int read_identity(struct jvm_view *v, uid_t owner)
{
	int r = proc_read_status(v->pid, 0, &v->status);

	if (r == 0)
		r = proc_start_time(v->pid, &v->start_ticks);
	return r == 0 && !proc_is_owner(&v->status, owner) ? -ENOENT : r;
}

int jvm_view_open(struct jvm_view *v, pid_t pid, uid_t owner, char *step)
{
	int r;

	memset(v, 0, sizeof(*v));
	v->pid = pid;
	v->step = step;
	v->root = v->cwd = TARGET_DIR_NONE;
	buffer_init(&v->cmdline, ARGUMENTS_MAX_BYTES + READ_CHUNK_BYTES);
	buffer_init(&v->environ, ARGUMENTS_MAX_BYTES + READ_CHUNK_BYTES);
	buffer_init(&v->perfdata, HSPERFDATA_MAX_BYTES + READ_CHUNK_BYTES);
	r = read_identity(v, owner);
	if (r < 0)
		return r;
	jvm_step(v->step, "its mappings");
	v->maps_error = read_maps(v);
	if (!v->maps.libjvm && !v->maps_error)
		return 0;
	jvm_step(v->step, "its command line");
	(void)read_proc(pid, "cmdline", &v->cmdline); /* Empty says enough. */
	return 0;
}

bool jvm_view_holds(const struct jvm_view *v)
{
	return proc_is_unchanged(v->pid, v->start_ticks, &v->status);
}

int jvm_view_open_perfdata(const struct jvm_view *v)
{
	_cleanup_close_ int fd = -1;
	struct stat st;

	if (v->root.fd < 0 || !v->maps.hsperfdata_path[0])
		return -ENOENT;
	jvm_step(v->step, "its file '%s'", v->maps.hsperfdata_path);
	fd = target_fs_open_file(&v->root, v->maps.hsperfdata_path, O_NOFOLLOW);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == v->root.uid ? TAKE_FD(fd) : -EPERM;
}

static void read_perfdata(struct jvm_view *v)
{
	_cleanup_close_ int fd = jvm_view_open_perfdata(v);

	if (fd < 0)
		return;
	if (read_all(fd, &v->perfdata) < 0)
		buffer_clear(&v->perfdata);
}

/* Paths as the target itself names them; both arrays hold any path. */
static void translate(const struct jvm_view *v, char path[MAPS_PATH_BYTES])
{
	char inside[MAPS_PATH_BYTES];

	if (path[0] && target_fs_inside_root(v->root.fd, path, inside, sizeof(inside)) == 0)
		strcpy(path, inside);
}

static int open_dir(const struct jvm_view *v, struct target_dir *dir, const char *entry)
{
	return target_fs_open_dir(dir, v->pid, entry, v->status.effective_uid,
				  v->status.effective_gid);
}

void jvm_view_read_jvm(struct jvm_view *v)
{
	jvm_step(v->step, "its environment");
	(void)read_proc(v->pid, "environ", &v->environ); /* Empty says enough. */
	jvm_step(v->step, "its root and working directory");
	if (open_dir(v, &v->root, "root") < 0)
		return;
	(void)open_dir(v, &v->cwd, "cwd"); /* Or none. */
	translate(v, v->maps.libjvm_path);
	translate(v, v->maps.hsperfdata_path);
	translate(v, v->maps.agent_path);
	read_perfdata(v);
}

void jvm_view_release(struct jvm_view *v)
{
	target_fs_close_dir(&v->root);
	target_fs_close_dir(&v->cwd);
	buffer_release(&v->cmdline);
	buffer_release(&v->environ);
	buffer_release(&v->perfdata);
}

const char *jvm_view_program(const struct jvm_view *v)
{
	const char *program, *slash;

	if (buffer_length(&v->cmdline) == 0)
		return "";
	program = (const char *)buffer_head(&v->cmdline);
	slash = strrchr(program, '/');
	return slash ? slash + 1 : program;
}

bool jvm_view_counter(const struct jvm_view *v, const char *name, char *value, size_t size)
{
	return buffer_length(&v->perfdata) > 0 &&
	       hsperfdata_string(buffer_head(&v->perfdata), buffer_length(&v->perfdata), name,
				 value, size);
}

const char *jvm_view_environ(const struct jvm_view *v, const char *name)
{
	const char *value = NULL;

	if (buffer_length(&v->environ) > 0)
		value = jvm_text_environ((const char *)buffer_head(&v->environ),
					 buffer_length(&v->environ), name);
	return value ? value : "";
}

bool jvm_view_is_32_bit(pid_t pid)
{
	char path[PATH_BYTES], ident[EI_NIDENT + 1];

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return proc_read(path, ident, sizeof(ident)) == EI_NIDENT &&
	       memcmp(ident, ELFMAG, SELFMAG) == 0 && ident[EI_CLASS] != ELFCLASS64;
}
