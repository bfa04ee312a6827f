"""A copy of this machine's files that is thrown away: for what installs something."""
import os
import re
import shlex
import signal
import subprocess

from lib import BUILD, ROOT, Process, jdks, make_directory, need_root, only_child, skip

NOBODY = 65534

# In namespaces of its own: the files of the machine with a layer above that takes the changes, and no network but a
# loopback. Process 1, with which all others end, stays outside of that root: so systemctl sees that it is in a chroot,
# enables units, and ignores what takes a systemd that runs.
ENTER = """
set -e
layer=$1 tree=$2 build=$3
mount --make-rprivate /
mount -t tmpfs layer "$layer"
mkdir "$layer/upper" "$layer/work" "$layer/root"
root=$layer/root
mount -t overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" overlay "$root"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mount -t tmpfs -o mode=755 run "$root/run"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
mkdir -p "$root$tree" "$root$build" "$root/usr/local/sbin"
mount --bind "$tree" "$root$tree"
mount --bind "$build" "$root$build"
printf '#!/bin/sh\\nexec "$@"\\n' > "$root/usr/local/sbin/sudo"
chmod 755 "$root/usr/local/sbin/sudo"
# Ours, should there be one of these from elsewhere.
rm -rf "$root/usr/local/lib/jxperf" "$root/usr/local/bin/jxperf"*
sed -i '/^jxperf:/d' "$root/etc/passwd" "$root/etc/group" "$root/etc/shadow" "$root/etc/gshadow"
chroot "$root" /usr/bin/python3 -c '
import fcntl, socket, struct, time
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
with socket.socket() as s:
    fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))
print("entered", flush=True)
time.sleep(600)
'
"""


class Copy:
    """The copy, for as long as its first process lives."""

    def __init__(self):
        need_root()
        layer = make_directory()
        command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh"]
        self.first = Process([*command, layer, ROOT, BUILD])
        try:
            self.first.wait_for("entered")
        except AssertionError:
            skip(f"no copy of the machine's files: {self.first.output().strip()}")
        self.pid = only_child(only_child(self.first.pid))

    def stop(self):
        """Its first process, and with it all others: as the first one of its namespace it ignores SIGTERM."""
        os.kill(self.first.pid, signal.SIGKILL)
        self.first.stop()

    def command(self, *command):
        inside = ["nsenter", f"--target={self.pid}", "--mount", "--net", "--pid", "--root", "--wd"]
        kept = {k: v for k, v in os.environ.items() if "JAVA" not in k and not k.startswith("MAKE")}
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        variables = {**kept, "PATH": path, "B": BUILD}
        return [*inside, "env", f"--chdir={ROOT}", "-i", *(f"{k}={v}" for k, v in variables.items() if "\n" not in v), *command]

    def sh(self, script, timeout=120):
        done = subprocess.run(self.command("sh", "-ec", script), capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, (script, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def read(self, path):
        return self.sh(f"cat {path}")


def readme_blocks(heading):
    """The blocks below a heading of README, a list of each one's lines."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        section = re.search(rf"^## {heading}\n(.*?)^## ", f.read(), re.MULTILINE | re.DOTALL).group(1)
    return [block.strip().splitlines() for block in re.findall(r"^```\w*\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)]


def setting(unit, name):
    return re.search(rf"^{name}=(.*)$", unit, re.MULTILINE).group(1)


def confined(unit):
    """The account and capabilities that systemd would give a unit."""
    user = setting(unit, "User")
    words = re.search(r"^AmbientCapabilities=(.*)$", unit, re.MULTILINE)
    names = ",".join(f"+{c.removeprefix('CAP_').lower()}" for c in words.group(1).split()) if words else ""
    sets = ",".join(["-all", names]) if names else "-all"
    return ["setpriv", f"--reuid={user}", f"--regid={setting(unit, 'Group')}", "--clear-groups", f"--bounding-set={sets}",
            f"--inh-caps={sets}", f"--ambient-caps={sets}", "--no-new-privs"]


def start_units(copy, directory):
    """What systemd would run: the broker behind its socket, and the engine, which is returned."""
    broker, engine = (copy.read(f"{directory}/{name}.service") for name in ("jxperf-broker", "jxperfd"))
    path = setting(copy.read(f"{directory}/jxperf-broker.socket"), "ListenSequentialPacket")
    owner = f"-o {setting(engine, 'User')} -g {setting(engine, 'Group')}"
    copy.sh(f"install -d -m {setting(engine, 'RuntimeDirectoryMode')} {owner} /run/{setting(engine, 'RuntimeDirectory')}")
    copy.sh(f"install -d -m {setting(engine, 'StateDirectoryMode')} {owner} /var/lib/{setting(engine, 'StateDirectory')}")
    copy.sh(f"install -d {os.path.dirname(path)}")
    door = Process(copy.command("systemd-socket-activate", "--seqpacket", "-l", path, *confined(broker),
                                *shlex.split(setting(broker, "ExecStart"))))
    door.wait_for("Listening")
    copy.sh(f"chown jxperf:jxperf {path} && chmod 600 {path}")
    daemon = Process(copy.command(*confined(engine), *shlex.split(setting(engine, "ExecStart"))))
    daemon.wait_for("ready")
    daemon.wait_for("connected to the broker")
    return daemon


def start_jvm(copy, directory):
    """A JVM of another user, and its pid there."""
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", jdks()[0].java, "-cp", directory]
    jvm = Process(copy.command(*command, "SilentLoad"))
    jvm.wait_for("up")
    return jvm, copy.sh("pidof java").strip()
