# jxperf: one GNU Makefile, read top to bottom. `make V=1` shows the commands.
#
#   make            build/bin/jxperfd, build/bin/jxperfctl, build/lib/jxperf/ (agent bundle)
#   make demo       install what is missing, build, profile a real library, print the report
#   make demo-fleet the same of a fleet: ClickHouse, Prometheus, three daemons with a JVM each, one report of all
#   make check      install what is missing, build, run every test    (T=unit/frame for one)
#   make check-busy    the same with two endless loops beside the tests
#   make check-fresh   the same for the committed tree in a new Debian root with nothing but the base image
#   make check-install  README's "In production" on a new machine with a systemd (namespaces; root and debootstrap needed)
#   make deps       install what the build and the tests need, from Debian packages
#   make truth      programs whose true fractions are known: measured, true, interval (TRUTH_ONLY=IntMasked for one)
#   make truth-merged   the same of windows that are merged
#   make methods    how often the method is right that is said to make an access (SCORE_ONLY=H2Queries for some)
#   make gains      real fixes: what the report predicts and what they bring (GAINS_ONLY=clears,sums for some; GAINS_AT_ONCE=8 side by side)
#   make gains-injected   known wasteful work added to real programs: what the report says of it (INJECTED_AT_ONCE)
#   make loops-truth    programs whose loops are known: type, results, turns, verdict (LOOPS_ONLY=array,few for some)
#   make soak       windows of every sort for half an hour (SOAK_MINUTES); soak-asan: the agent with AddressSanitizer
#   make soak-schedules    64 JVMs under one schedule for ten minutes (SOAK_MINUTES), and what the daemon costs
#   make soak-faults   a thousand windows, half of them cut short by a fault (FAULTS_SEED, FAULTS_CYCLES)
#   make soak-export   a fleet's windows in ClickHouse, undisturbed and with faults (EXPORT_HOSTS, EXPORT_WINDOWS)
#   make soak-system-calls   windows while threads make system calls, for ten minutes on each JDK: none ends early
#   make soak-diff  a hundred pairs of windows of programs that do not change: what 'diff' says (DIFF_PAIRS)
#   make soak-agreement    first screens of ten programs, two windows each: do they agree? (AGREEMENT_ONLY, AGREEMENT_AT_ONCE)
#   make subsume-trees   subsuming methods in exact call trees of real libraries, and what sampling finds of them
#   make deb        a Debian package, in build/deb; make rpm: an RPM package, in build/rpm
#   make bench-evidence    pairs for each second of overhead, and where the cost of a sample goes, beside an older build
#   make asan tsan lint fuzz bench map format install clean
#   make fuzz-corpus    fuzz, and keep what was found in tests/fuzz/corpus

SHELL	:= /bin/bash
B	?= build
# One name for one directory, or what depends on what (.d) is lost between two ways of saying it.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $(B)))
CC	?= gcc
CLANG	?= clang
BPFTOOL	?= $(or $(shell command -v bpftool),/usr/sbin/bpftool)
DESTDIR	?=
PREFIX	?= /usr/local
SYSCONFDIR ?= /etc
V	?= 0
Q	:= $(if $(filter 1,$(V)),,@)
say	 = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

WARN	:= -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef $(WERROR)
CFLAGS	?= -O2 -g
CPPFLAGS += -D_GNU_SOURCE -I. -I$(B)/gen
ALL_CFLAGS = -std=gnu17 $(WARN) -fno-strict-aliasing -fstack-protector-strong $(CFLAGS)
DEPFLAGS = -MMD -MP

# Looked up when used, not when read: `make deps` may be what installs the JDK.
JDK	 = $(or $(JAVA_HOME),$(shell readlink -f "$$(command -v javac)" 2>/dev/null | sed 's:/bin/javac::'))
JNI_CPPFLAGS = -isystem $(JDK)/include -isystem $(JDK)/include/linux

# Debug registers, the decoder of machine code and HotSpot's frames are x86-64's. Before a compiler is there nothing is known.
MACHINE	:= $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
ifneq ($(filter-out x86_64,$(MACHINE)),)
ifneq ($(filter-out help deps clean,$(or $(MAKECMDGOALS),all)),)
$(error jxperf is for x86-64 only, and '$(CC)' compiles for $(MACHINE): build and run it on an x86-64 machine)
endif
endif

.PHONY: all help demo demo-fleet check check-clang check-busy check-fresh check-install deps truth gains gains-injected loops-truth loops-mapping methods asan tsan lint fuzz bench bench-evidence bench-idle bench-import bench-memory bench-residue bench-subsume bench-tree fleet-sim deb rpm soak soak-asan soak-schedules soak-faults soak-system-calls soak-agreement soak-places soak-interpreter soak-contexts soak-epochs soak-periods soak-export subsume-trees map format install uninstall clean screenshots tests unit-tests workloads
# What jxperfd runs.
PROGRAMS := $(addprefix $(B)/lib/jxperf/,jxperf-attach jxperf-child)
# Everything that is installed.
all: $(B)/bin/jxperfd $(B)/bin/jxperfctl $(PROGRAMS) $(B)/lib/jxperf/libjxperf-agent.so $(B)/share/jxperf/page.html

# What can be made, a line each: of the comment above a target the first line.
help:
	$(Q)awk '/^# / { if (!words && !/^# ---/) words = substr($$0, 3); next } \
		/^[a-z][a-z -]*:([^=]|$$)/ && words { split($$0, name, ":"); printf "%-26s %s\n", name[1], words } \
		{ words = "" }' Makefile

# What a failing rule half made is not taken for made.
.DELETE_ON_ERROR:
# Objects that only a chain of rules names are kept for the next build.
.SECONDARY:

# ---------------------------------------------------------------- sources
# A folder's sources, those of its rooms (docs/map.md) included.
sources	 = $(sort $(shell find $(1) -name '*.c'))
# Machine code is taken apart by the agent and the daemon, with Zydis; others do without.
CODE	:= $(call sources,common/code)
COMMON	:= $(filter-out $(CODE),$(call sources,common))
PROTO	:= $(call sources,proto)
FLEET	:= $(call sources,fleet)
IMPORT	:= $(call sources,subsume/import)
SUBSUME	:= $(filter-out $(IMPORT),$(call sources,subsume))
ATTACH	:= $(filter-out attach/main.c attach/agent/%,$(call sources,attach))
AGENT	:= $(call sources,attach/agent) attach/process/hsperfdata.c
DAEMON	:= $(filter-out daemon/main.c daemon/child_main.c,$(call sources,daemon profile report machine))
# The broker's workers, inspectors and watchers.
CHILD	:= $(call sources,daemon/inspector daemon/watcher daemon/child machine attach/process) attach/bundle.c daemon/shares/shares.c \
	daemon/broker/worker.c daemon/broker/perf.c daemon/broker/privilege.c
CLIENT	:= $(filter-out client/main.c,$(call sources,client))
COMPARE	:= $(call sources,compare)
# What windows are to others; jxperfctl makes reports itself, of what it asks a fleet's server for. It takes no code apart.
EXPORT	:= $(call sources,export)
REPORT	:= $(filter-out profile/intake/% profile/attribution/% profile/loops/%,$(call sources,profile report machine)) profile/loops/loop_kind.c

obj	 = $(patsubst %.c,$(B)/obj/%.o,$(1))
pic	 = $(patsubst %.c,$(B)/pic/%.o,$(1))
GEN_PB	:= $(B)/gen/proto/jxperf.pb-c.c
PB_O	:= $(B)/obj/gen/jxperf.pb-c.o
PB_PIC	:= $(B)/pic/gen/jxperf.pb-c.o
# What pprof reads.
GEN_PROFILE := $(B)/gen/proto/profile.pb-c.c
PROFILE_O := $(B)/obj/gen/profile.pb-c.o

# ---------------------------------------------------------------- generated
$(GEN_PB) $(GEN_PB:.c=.h) &: proto/jxperf.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(B)/gen && protoc-c --c_out=$(B)/gen $<
$(GEN_PROFILE) $(GEN_PROFILE:.c=.h) &: proto/profile.proto
	$(call say,PROTOC,$<)
	$(Q)mkdir -p $(B)/gen && protoc-c --c_out=$(B)/gen $<

# BPF programs are built by clang whatever CC is. They read no kernel structure, so they need no BTF of
# the build machine; -g is for the types of their maps.
GEN_BPF	:= $(patsubst bpf/%.bpf.c,$(B)/gen/bpf/%.skel.h,$(wildcard bpf/*.bpf.c))
$(B)/gen/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D) && $(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(WERROR) -I. \
		-idirafter /usr/include/$(shell gcc -print-multiarch) $(DEPFLAGS) -c $< -o $@
$(B)/gen/bpf/%.skel.h: $(B)/gen/bpf/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(subst .,_,$*)_bpf > $@

# ---------------------------------------------------------------- objects
$(B)/obj/gen/%.o: $(B)/gen/proto/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu17 $(CFLAGS) $(SANITIZE) -c $< -o $@
$(B)/pic/gen/%.o: $(B)/gen/proto/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) -std=gnu17 $(CFLAGS) -fPIC -fvisibility=hidden -c $< -o $@
$(B)/obj/%.o: %.c | $(GEN_PB) $(GEN_PROFILE) $(GEN_BPF)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(JNI_CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) $(DEPFLAGS) -c $< -o $@
# The agent lives in somebody else's process: position independent, everything hidden, and never
# built with a sanitizer, whose run time the target does not have (but for soak-asan).
$(B)/pic/%.o: %.c | $(GEN_PB)
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D) && $(CC) $(CPPFLAGS) $(JNI_CPPFLAGS) $(ALL_CFLAGS) $(DEPFLAGS) \
		-fPIC -fvisibility=hidden -c $< -o $@

# ---------------------------------------------------------------- programs
DAEMON_LIBS := -lcurl -lZydis -luv -lprotobuf-c -ljansson -lmicrohttpd -lbpf -lcyaml -lyaml -lnettle -lsqlite3 -lzstd -lz -lm
$(B)/bin/jxperfd: $(call obj,daemon/main.c $(DAEMON) $(EXPORT) $(ATTACH) $(FLEET) $(COMPARE) $(SUBSUME) $(CODE) $(COMMON) $(PROTO)) $(PB_O) $(PROFILE_O)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
# Loads libcurl when it asks a server (client/fleet/libcurl.h).
$(B)/bin/jxperfctl: $(call obj,client/main.c $(CLIENT) $(REPORT) $(EXPORT) $(FLEET) $(COMPARE) $(SUBSUME) $(IMPORT) $(COMMON) $(PROTO)) $(PB_O) $(PROFILE_O)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lprotobuf-c -ljansson -lmicrohttpd -lcyaml -lyaml -lnettle -lncursesw -lz -lm
$(B)/lib/jxperf/jxperf-attach: $(call obj,attach/main.c $(ATTACH) $(COMMON))
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lnettle
# Run once for each JVM that is profiled and for each look at them, so every library that it does without counts.
$(B)/lib/jxperf/jxperf-child: $(call obj,daemon/child_main.c $(CHILD) $(COMMON) $(PROTO)) $(PB_O)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lprotobuf-c -ljansson

# The bundle is a directory that can be copied into a container: the agent and, beside it, the
# libraries it needs (run path $ORIGIN).
AGENT_OBJECTS := $(call pic,$(AGENT) $(CODE) $(COMMON) $(PROTO)) $(PB_PIC)
AGENT_LIBS    := libZydis.so.4.0 libprotobuf-c.so.1
COPY_AGENT_LIBS = for l in $(AGENT_LIBS); do cp -L --remove-destination "$$($(CC) -print-file-name=$$l)" $(@D)/$$l || exit 1; done
$(B)/lib/jxperf/libjxperf-agent.so: $(AGENT_OBJECTS) attach/agent/agent.map
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) -shared $(LDFLAGS) -Wl,--build-id -Wl,-z,defs -Wl,-z,now -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=attach/agent/agent.map -o $@ $(AGENT_OBJECTS) -lZydis -lprotobuf-c -ldl -lpthread -lm
	$(Q)$(COPY_AGENT_LIBS)

# The page of reports needs Node.js to be built, and nothing to be opened; without it there is none, which is said.
$(B)/share/jxperf/page.html: $(shell find page -name node_modules -prune -o -type f -print)
	$(call say,PAGE,$@)
	$(Q)mkdir -p $(@D) && page/make $@

# ---------------------------------------------------------------- dependencies
PACKAGES := build-essential clang clang-format clang-tidy libclang-rt-dev libcyaml-dev libyaml-dev protobuf-c-compiler \
	libprotobuf-c-dev libzydis-dev libuv1-dev libjansson-dev libmicrohttpd-dev libpfm4-dev libbpf-dev nettle-dev \
	libsqlite3-dev libzstd-dev zlib1g-dev libncurses-dev libcurl4-openssl-dev \
	bpftool libcmocka-dev openjdk-17-jdk-headless libjfreechart-java libjcommon-java \
	libcommons-collections3-java libcommons-collections4-java musl python3 python3-yaml curl procps util-linux shellcheck systemd debhelper lintian rpm chromium
# Node.js comes from wherever the machine has it.
NODE_PACKAGES  = $(if $(and $(shell command -v node),$(shell command -v npm)),,nodejs npm)
MISSING	  = $(shell for p in $(PACKAGES) $(NODE_PACKAGES); do dpkg-query -W -f '$${Status}' $$p 2>/dev/null | \
	grep -q 'install ok installed' || echo $$p; done)
SUDO	 := $(if $(filter 0,$(shell id -u)),,sudo)

# Does nothing, and asks for no network, when everything is there.
deps:
	$(Q)missing="$(MISSING)"; if [ -n "$$missing" ]; then \
		echo "installing: $$missing"; \
		$(SUDO) apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; \
	fi

# ---------------------------------------------------------------- tests
CORE		:= $(B)/libjxperf-core.a
# tests/unit has the rooms of what is tested; what tests share is in support/.
UNIT_SUPPORT	:= $(wildcard tests/unit/support/*.c)
UNIT_SOURCES	:= $(filter-out tests/unit/support/%,$(call sources,tests/unit))
UNIT_TESTS	:= $(patsubst %.c,$(B)/%,$(filter-out tests/unit/attach/agent/%,$(UNIT_SOURCES)))
AGENT_TESTS	:= $(patsubst %.c,$(B)/%,$(filter tests/unit/attach/agent/%,$(UNIT_SOURCES)))
WORKLOADS	:= $(wildcard tests/workloads/*.java)
WORKLOAD_JARS	:= /usr/share/java/jfreechart.jar:/usr/share/java/jcommon.jar:/usr/share/java/commons-collections3.jar:/usr/share/java/commons-collections4.jar

$(CORE): $(call obj,$(DAEMON) $(EXPORT) $(ATTACH) $(CLIENT) $(FLEET) $(COMPARE) $(SUBSUME) $(IMPORT) $(CODE) $(COMMON) $(PROTO)) $(PB_O) $(PROFILE_O)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar qcs $@ $^
$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(call obj,$(UNIT_SUPPORT)) $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ \
		-lcmocka $(DAEMON_LIBS)
# The agent's modules are tested from the very objects that go into the library, except under a
# sanitizer, which the library itself is never built with. As an archive: a test that has a module's functions
# itself (tests/unit/support/agent/one_frame.h) is linked without that module. -rdynamic: what libjvm.so would export
# is looked for in the program. A static pattern, since of two others make takes the one whose prerequisites are all there.
AGENT_UNDER_TEST = $(if $(SANITIZE),$(call obj,$(AGENT) $(CODE) $(COMMON) $(PROTO)) $(PB_O),$(AGENT_OBJECTS))
$(B)/libjxperf-agent.a: $(AGENT_UNDER_TEST)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar qcs $@ $^
$(AGENT_TESTS): $(B)/tests/unit/attach/agent/%: $(B)/obj/tests/unit/attach/agent/%.o \
		$(B)/obj/tests/unit/support/test.o $(B)/libjxperf-agent.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -rdynamic -o $@ $^ -lcmocka -lZydis -lprotobuf-c -lm
$(B)/workloads/.built: $(WORKLOADS)
	$(call say,JAVAC,tests/workloads)
	$(Q)mkdir -p $(@D) && $(JDK)/bin/javac --release 11 -Xlint:-options -cp $(WORKLOAD_JARS) -d $(@D) $(WORKLOADS) && touch $@

# A machine with two NUMA nodes, emulated: a kernel, and an initramfs with a JDK and this build. See
# docs/extending.md. Where its packages cannot be had the test says SKIP.
NUMA		:= $(B)/numa
NUMA_PACKAGES	:= qemu-system-x86 busybox-static cpio
NUMA_JAVA	:= $(wildcard tests/numa/*.java)
.PHONY: numa-guest
numa-guest: all
	$(Q)mkdir -p $(NUMA) && rm -f $(NUMA)/unavailable
	$(Q)if $(MAKE) --no-print-directory deps PACKAGES="$(NUMA_PACKAGES)"; then \
		SUDO=$(SUDO) tests/numa/kernel $(NUMA) && \
		$(MAKE) --no-print-directory $(if $(Q),-s) $(NUMA)/initramfs.cpio; \
	else echo "cannot install $(NUMA_PACKAGES)" | tee $(NUMA)/unavailable; fi
# Class data sharing makes a JVM start much faster, above all on an emulated CPU.
$(NUMA)/jdk/release: $(wildcard $(JDK)/release)
	$(call say,JLINK,$(@D))
	$(Q)rm -rf $(@D) && $(JDK)/bin/jlink --add-modules java.base --vm server --no-header-files --no-man-pages \
		--output $(@D) && $(@D)/bin/java -Xshare:dump >/dev/null 2>&1 && touch $@
$(NUMA)/classes/.built: $(NUMA_JAVA)
	$(call say,JAVAC,tests/numa)
	$(Q)mkdir -p $(@D) && $(JDK)/bin/javac --release 11 -Xlint:-options -d $(@D) $(NUMA_JAVA) && touch $@
$(NUMA)/initramfs.cpio: tests/numa/initramfs tests/numa/init $(NUMA)/jdk/release $(NUMA)/classes/.built \
		$(B)/bin/jxperfd $(B)/bin/jxperfctl $(PROGRAMS) $(B)/lib/jxperf/libjxperf-agent.so
	$(call say,CPIO,$@)
	$(Q)tests/numa/initramfs $@ $(B) $(NUMA)/jdk $(NUMA)/classes

# Builds the unit tests.
unit-tests: $(UNIT_TESTS) $(AGENT_TESTS)
workloads: $(B)/workloads/.built
WITNESS := $(B)/tests/witness
OTHER_AGENTS := $(B)/tests/agents
SENDING := $(B)/tests/sending
# Builds the tests, without running them.
tests: all unit-tests workloads $(B)/bench/fill_store $(B)/tests/stacks $(B)/tests/fleet-windows $(B)/tests/code/check.so $(B)/tests/methods/check.so \
	$(WITNESS)/lib/jxperf/libjxperf-agent.so $(SENDING)/bin/jxperfd $(OTHER_AGENTS)/released/.built $(OTHER_AGENTS)/future/.built
# What a profile in a file is read as, for the end-to-end test to hold against the JDK's own reader.
$(B)/tests/stacks: $(B)/obj/tests/e2e/stacks.o $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lz -lm

# Sends windows to a ClickHouse server, of stores and of fleets whose truth is known.
$(B)/tests/fleet-windows: $(B)/obj/tests/fleet/windows.o $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)

# A daemon whose agent asks the JVM for each stack that it walks as well.
$(WITNESS)/lib/jxperf/libjxperf-agent.so: $(AGENT_OBJECTS) $(call pic,tests/e2e/witness.c) attach/agent/agent.map \
		$(B)/bin/jxperfd $(PROGRAMS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) $(WITNESS)/bin && $(CC) -shared $(LDFLAGS) -Wl,--build-id -Wl,-z,defs -Wl,-z,now -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=attach/agent/agent.map -o $@ $(filter %.o,$^) -lZydis -lprotobuf-c -ldl -lpthread -lm
	$(Q)$(COPY_AGENT_LIBS)
	$(Q)cp -lf $(B)/bin/jxperfd $(WITNESS)/bin && cp -lf $(PROGRAMS) $(@D)

# The agent of the last release, 0.2.0, as JVMs have it that go on: by itself, since an engine speaks with it. Where the
# history lacks that commit there is none, and the test says so.
RELEASED := f1556ffbdbc8ac7635a9654457a33d00c21d30c0
$(OTHER_AGENTS)/released/.built:
	$(call say,AGENT,$(@D))
	$(Q)mkdir -p $(@D)/tree
	$(Q)if git cat-file -e $(RELEASED)^{commit} 2>/dev/null; then \
		git archive $(RELEASED) | tar x -C $(@D)/tree && \
		$(MAKE) --no-print-directory -C $(@D)/tree B=build WERROR= build/lib/jxperf/libjxperf-agent.so >/dev/null && \
		cp -lf $(@D)/tree/build/lib/jxperf/*.so* $(@D); fi
	$(Q)touch $@
# An agent of a version to come, of a protocol that nobody speaks yet.
$(OTHER_AGENTS)/future/.built: $(AGENT_OBJECTS) attach/agent/agent.map
	$(call say,AGENT,$(@D))
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(JNI_CPPFLAGS) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -DPROTOCOL_VERSION=1000 \
		-DJXPERF_VERSION='"99.0.0"' -c attach/agent/window/conversation.c -o $(@D)/conversation.o
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,--build-id -Wl,-z,defs -Wl,-z,now -Wl,-rpath,'$$ORIGIN' \
		-Wl,--version-script=attach/agent/agent.map -o $(@D)/libjxperf-agent.so $(@D)/conversation.o \
		$(filter-out %/window/conversation.o attach/agent/agent.map,$^) -lZydis -lprotobuf-c -ldl -lpthread -lm
	$(Q)$(COPY_AGENT_LIBS)
	$(Q)touch $@

# A daemon whose only format is a line for each window: what is tested of sending does not depend on what servers want.
$(SENDING)/bin/jxperfd: $(call obj,tests/e2e/export_formats.c daemon/main.c) $(CORE) $(PROGRAMS) $(B)/lib/jxperf/libjxperf-agent.so
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) $(SENDING)/lib && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(DAEMON_LIBS)
	$(Q)rm -rf $(SENDING)/lib/jxperf && cp -a $(B)/lib/jxperf $(SENDING)/lib

# A daemon that holds what it says of accesses against dense debug information, which it does not get to see.
SCORE := $(B)/tests/score
comma := ,
SCORE_WRAPS := attribution_make attribution_find attribution_match attribution_intake_analysed tick_intake_finish array_reserve_within
$(SCORE)/bin/jxperfd: $(call obj,tests/methods/score.c tests/methods/score_ticks.c daemon/main.c $(DAEMON) $(EXPORT) $(ATTACH) $(FLEET) $(COMPARE) $(SUBSUME) $(CODE) $(COMMON) $(PROTO)) \
		$(PB_O) $(PROFILE_O) $(PROGRAMS) $(B)/lib/jxperf/libjxperf-agent.so
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) $(SCORE)/lib && $(CC) $(SANITIZE) $(LDFLAGS) $(addprefix -Wl$(comma)--wrap=,$(SCORE_WRAPS)) -o $@ \
		$(filter %.o,$^) $(DAEMON_LIBS)
	$(Q)rm -rf $(SCORE)/lib/jxperf && cp -a $(B)/lib/jxperf $(SCORE)/lib

# Agents of the very objects that go into ours, which hold compiled code and methods as they are read against what the
# JVM says of them.
$(B)/tests/code/check.so: $(call pic,tests/e2e/code_check.c)
$(B)/tests/methods/check.so: $(call pic,tests/e2e/method_check.c)
$(B)/tests/code/check.so $(B)/tests/methods/check.so: $(AGENT_OBJECTS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) -shared $(LDFLAGS) -Wl,-z,defs -Wl,-rpath,'$$ORIGIN' -o $@ $^ -lZydis -lprotobuf-c -ldl -lpthread -lm
	$(Q)$(COPY_AGENT_LIBS)

# JDKs that this Debian lacks, for the tests alone. Without a network they are skipped.
$(B)/jdks: tests/jdks/fetch
	$(call say,FETCH,$@)
	$(Q)tests/jdks/fetch $@ && touch $@ || echo "  the tests of other JDKs will be skipped"

# A Prometheus to be scraped by, and its promtool, likewise.
$(B)/prometheus: tests/prometheus/fetch
	$(call say,FETCH,$@)
	$(Q)SUDO=$(SUDO) tests/prometheus/fetch $@ && touch $@ || echo "  the tests with a Prometheus will be skipped"

# pprof, to read what is written for it, likewise.
$(B)/pprof: tests/pprof/fetch
	$(call say,FETCH,$@)
	$(Q)SUDO=$(SUDO) tests/pprof/fetch $@ && touch $@ || echo "  the tests with pprof will be skipped"

# The description of OpenTelemetry's protocol, and protoc, likewise.
$(B)/otlp: tests/otlp/fetch
	$(call say,FETCH,$@)
	$(Q)SUDO=$(SUDO) tests/otlp/fetch $@ && touch $@ || echo "  the tests of OTLP profiles will be skipped"

# ClickHouse of this Debian, and a current one, likewise.
$(B)/clickhouse: tests/clickhouse/fetch
	$(call say,FETCH,$@)
	$(Q)SUDO=$(SUDO) tests/clickhouse/fetch $@ && touch $@ || echo "  the tests with a ClickHouse will be skipped"
$(B)/chdb: tests/chdb/fetch
	$(call say,FETCH,$@)
	$(Q)tests/chdb/fetch $@ && touch $@ || echo "  the tests with a current ClickHouse will be skipped"

# Kubernetes' types, likewise.
$(B)/kubernetes: tests/kubernetes/fetch
	$(call say,FETCH,$@)
	$(Q)tests/kubernetes/fetch $@ && touch $@ || echo "  the test of the manifests' types will be skipped"

# Builds and runs every test; T=unit/frame runs one. A second make, so that what the parse saw missing is there
# after deps.
check: deps
	$(Q)$(MAKE) --no-print-directory $(JOBS) tests check-clang $(B)/jdks $(B)/prometheus $(B)/pprof $(B)/otlp $(B)/kubernetes $(B)/clickhouse $(B)/chdb WERROR=-Werror
	$(if $(filter unit%,$(T)),,$(Q)$(MAKE) --no-print-directory numa-guest WERROR=-Werror)
	$(Q)JXPERF_BUILD=$(B) $(BESIDE) tests/run $(T)
JOBS	= $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))
# That clang builds it, too; with what the fuzzers need, which e2e/fuzzers runs for some seconds each.
check-clang:
	$(Q)$(MAKE) --no-print-directory all fuzzers B=$(B)/fuzz CC=$(CLANG) WERROR=-Werror SANITIZE="$(FUZZ_SANITIZE)" CFLAGS="$(FUZZ_CFLAGS)"

# The tests must pass on a machine that is busy with other work: two endless loops run beside them.
check-busy:
	$(Q)$(MAKE) --no-print-directory check BESIDE=tests/busy
# `make check` of the committed tree on a machine that has nothing else: a new Debian root (needs root).
check-fresh:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="debootstrap git"
	$(Q)tests/fresh check $(if $(T),"T=$(T)")

# The package on a new machine, three minutes; the root is kept in $(B)/machine.
check-install:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) debootstrap"
	$(Q)$(MAKE) --no-print-directory deb
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/production/run.py

# Programs whose waste is known, and what is said of it; variables: tests/truth/run.py.
truth: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/truth/run.py

# Five windows merged against one of five times the length; ten minutes. Variables: tests/truth/merged.py.
truth-merged: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/truth/merged.py

# Loops that are known, and what is said of them. The variables that choose what is run are described in tests/loops/run.py,
# and those of the loops' places in tests/loops/mapping.py.
loops-truth loops-mapping:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES) libjgrapht0.8-java"
	$(Q)$(MAKE) --no-print-directory all
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/loops/$(if $(filter loops-truth,$@),run,mapping).py

# Who makes accesses, beside what the JVM says where it has debug information everywhere; variables: tests/methods/score.py.
methods:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench $(SCORE)/bin/jxperfd
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/methods/score.py

# Real fixes, whose libraries are Debian's; their sources are fetched with apt-get source, and packages that conflict with others
# (Lucene 8) are unpacked in build/gains. Variables: tests/gains/run.py and tests/gains/injected.py.
gains gains-injected:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/gains/$(if $(filter gains,$@),run,injected).py

# Half an hour of windows of every sort in JVMs of every sort; variables: tests/soak/run.py.
soak:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/soak/run.py

# Many JVMs under one schedule; variables: tests/soak/schedules.py.
soak-schedules: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/soak/schedules.py

# A thousand windows, half of them cut short by a fault of some sort; variables: tests/soak/faults.py.
soak-faults: deps
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/jdks
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/soak/faults.py

# No system call of the target ends early because of us; ten minutes on each JDK. Variable: tests/e2e/system_calls.py.
soak-system-calls: deps
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)JXPERF_BUILD=$(B) JXPERF_SYSTEM_CALLS_S=$(or $(JXPERF_SYSTEM_CALLS_S),600) /usr/bin/python3 tests/e2e/system_calls.py

# What 'diff' says of windows of one program, and of repaired ones; ten minutes. Variables: tests/soak/diff.py.
soak-diff: deps
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/soak/diff.py

# First screens of ten programs, two windows each: do they agree? A quarter of an hour; variables: tests/soak/agreement.py.
soak-agreement:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/soak/agreement.py

# 100,000 accesses beside what they are known to touch, in JVMs of every sort; variables: tests/e2e/places.py.
soak-places: deps
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/jdks
	$(Q)JXPERF_BUILD=$(B) PLACES_CHECKED=$(or $(PLACES_CHECKED),6000) /usr/bin/python3 tests/e2e/places.py

# A million rows of instructions in compiled code beside what the agent's interpreter says of them; variable:
# tests/e2e/interpreter.py.
soak-interpreter:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench
	$(Q)JXPERF_BUILD=$(B) INTERPRETER_SEQUENCES=$(or $(INTERPRETER_SEQUENCES),1000000) /usr/bin/python3 tests/e2e/interpreter.py

# Calling contexts beside the JVM's own, in all programs and with every collector; ten minutes.
soak-contexts:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench $(B)/jdks
	$(Q)JXPERF_BUILD=$(B) CONTEXTS_ALL=1 /usr/bin/python3 tests/e2e/contexts.py

# What tells that objects may have moved, with every collector of every JDK; a quarter of an hour.
soak-epochs:
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/jdks
	$(Q)JXPERF_BUILD=$(B) EPOCHS_ALL=1 /usr/bin/python3 tests/e2e/epochs.py

# Ten minutes of Tomcat under wrk, four small JVMs and two schedules of different kinds: every window counts.
soak-periods:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) tomcat10-user tomcat10-examples wrk"
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)JXPERF_BUILD=$(B) tests/soak/periods.py

# Windows of 2,000 hosts in ClickHouse, undisturbed and with faults, counted; ten minutes. Variables: tests/soak/export.py.
soak-export: deps
	$(Q)$(MAKE) --no-print-directory all $(B)/bench/export_load $(B)/clickhouse
	$(Q)JXPERF_BUILD=$(B) tests/soak/export.py

# Subsuming methods in the exact call trees of four libraries, and what sampling finds of them; a minute.
$(B)/tests/subsume/libcall_tree.so: tests/subsume/call_tree.c
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(JNI_CPPFLAGS) -D_GNU_SOURCE -fPIC -shared -o $@ $< -lpthread
$(B)/tests/subsume/exact: $(B)/obj/tests/subsume/exact.o $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
# Subsuming methods of random trees, beside their definition.
subsume-trees:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory $(B)/workloads/.bench $(B)/tests/subsume/libcall_tree.so $(B)/tests/subsume/exact
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 tests/subsume/trees.py

# Half an hour again, with an agent that has AddressSanitizer, in JVMs that load its run time first.
ASAN_AGENT := $(B)/asan-agent/lib/jxperf
# Half an hour again, with an agent that has AddressSanitizer.
soak-asan:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench
	$(Q)$(MAKE) --no-print-directory $(ASAN_AGENT)/libjxperf-agent.so B=$(B)/asan-agent LDFLAGS=-fsanitize=address \
		CFLAGS="-O1 -g -fsanitize=address -fno-omit-frame-pointer"
	$(Q)cp $(B)/lib/jxperf/jxperf-attach $(ASAN_AGENT)
	$(Q)JXPERF_BUILD=$(B) SOAK_BUNDLE=$(abspath $(ASAN_AGENT)) SOAK_PRELOAD=$$($(CC) -print-file-name=libasan.so) \
		/usr/bin/python3 tests/soak/run.py

# AddressSanitizer and UBSan on daemon, client and unit tests; then the end-to-end tests against them.
# What runs inside a JVM stays as it is.
asan: deps
	$(Q)$(MAKE) --no-print-directory tests B=$(B)/asan SANITIZE="-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"
	$(Q)JXPERF_BUILD=$(B)/asan ASAN_OPTIONS=allocator_may_return_null=1 tests/run $(T)
# ThreadSanitizer on the same.
tsan: deps
	$(Q)$(MAKE) --no-print-directory unit-tests B=$(B)/tsan SANITIZE=-fsanitize=thread
	$(Q)JXPERF_BUILD=$(B)/tsan TSAN_OPTIONS=allocator_may_return_null=1 tests/run $(or $(T),unit)

# ---------------------------------------------------------------- fuzzing
FUZZ_SECONDS ?= 30
FUZZERS	:= $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
# What libFuzzer's authors advise, and lines alone for its stacks, which is less to compile.
FUZZ_CFLAGS := -O1 -gline-tables-only
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
# Each fuzzer for FUZZ_SECONDS.
fuzz: deps
	$(Q)$(MAKE) --no-print-directory fuzzers B=$(B)/fuzz CC=$(CLANG) SANITIZE="$(FUZZ_SANITIZE)" CFLAGS="$(FUZZ_CFLAGS)"
	$(Q)set -o pipefail; for f in $(FUZZERS); do echo "== $$f, $(FUZZ_SECONDS) s"; mkdir -p $(B)/fuzz/corpus/$$f; \
		$(B)/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
		$(B)/fuzz/corpus/$$f $$(ls -d tests/fuzz/corpus/$$f 2>/dev/null) 2>&1 | tail -n 12 || exit 1; done
# What fuzzing found is kept beside the inputs that people wrote, as little as reaches the same code.
KEPT_CORPORA := fuzz_agent_frame fuzz_broker_request fuzz_config fuzz_control_frame fuzz_hsperfdata fuzz_perf_ring
fuzz-corpus: fuzz
	$(Q)for f in $(KEPT_CORPORA); do found=tests/fuzz/corpus/$$f/found; rm -rf $(B)/fuzz/merged && mkdir -p $(B)/fuzz/merged $$found; \
		$(B)/fuzz/$$f -merge=1 -verbosity=0 -max_len=1024 $(B)/fuzz/merged tests/fuzz/corpus/$$f $(B)/fuzz/corpus/$$f 2>/dev/null || exit 1; \
		for own in tests/fuzz/corpus/$$f/*; do [ -d $$own ] || rm -f $(B)/fuzz/merged/$$(sha1sum <$$own | cut -d' ' -f1); done; \
		rm -rf $$found && mv $(B)/fuzz/merged $$found; echo "$$f: $$(ls $$found | wc -l) files"; done
.PHONY: fuzzers fuzz-corpus
fuzzers: $(addprefix $(B)/,$(FUZZERS))
$(B)/fuzz_%: $(B)/obj/tests/fuzz/fuzz_%.o $(CORE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(subst fuzzer-no-link,fuzzer,$(SANITIZE)) -o $@ $< $(CORE) $(DAEMON_LIBS)

# ---------------------------------------------------------------- lint, format
C_FILES	= $(shell git ls-files '*.c' '*.h')
SCRIPTS	= tests/production/boot debian/jxperf.postrm contrib/kubernetes/jxperf-pod tests/run tests/busy tests/demo tests/screenshots page/make tests/fresh tests/jdks/fetch tests/prometheus/fetch tests/pprof/fetch tests/otlp/fetch tests/kubernetes/fetch tests/clickhouse/fetch tests/chdb/fetch tests/numa/kernel tests/numa/initramfs tests/numa/init .ci/run client/jxperfctl.bash-completion
# Formatting, clang-tidy, the rooms of the includes, scripts and man pages.
lint: deps $(GEN_PB) $(GEN_PROFILE) $(GEN_BPF)
	$(Q)tests/rooms
	$(Q)tests/rights
	$(Q)tests/citations
	$(Q)clang-format --dry-run -Werror $(C_FILES)
	$(Q)printf '%s\n' $(filter-out %.bpf.c,$(filter %.c,$(C_FILES))) | \
		xargs -P $$(nproc) -I{} clang-tidy --quiet {} -- $(CPPFLAGS) $(JNI_CPPFLAGS) -std=gnu17 2>&1 | \
		{ ! grep -E 'warning:|error:' -A3; }
	$(Q)shellcheck $(SCRIPTS)
# The picture of the rooms in docs/map.md.
map:
	$(Q)tests/rooms --draw
# Formats the sources.
format:
	$(Q)clang-format -i $(C_FILES)

# ---------------------------------------------------------------- bench
BENCH_PACKAGES	:= libh2-java jython libbatik-java libfop-java libjetty9-java wrk liblucene4.10-java libpdfbox2-java jruby libderby-java \
	libtomcat10-embed-java libtomcat10-java
BENCH_JARS	:= $(WORKLOAD_JARS):/usr/share/java/h2.jar:/usr/share/java/jython.jar:/usr/share/java/batik-all.jar:/usr/share/java/fop-core.jar:/usr/share/java/xmlgraphics-commons.jar:/usr/share/java/jetty9-server.jar:/usr/share/java/jetty9-util.jar:/usr/share/java/jetty9-http.jar:/usr/share/java/jetty9-io.jar:/usr/share/java/servlet-api.jar:/usr/share/java/derby.jar:/usr/share/java/lucene-core-4.10.4.jar:/usr/share/java/lucene-analyzers-common-4.10.4.jar:/usr/share/java/pdfbox2.jar:/usr/share/jruby/lib/jruby.jar:/usr/share/java/tomcat10-embed-core.jar
BENCH_SOURCES	:= $(wildcard bench/workloads/*.java)
$(B)/workloads/.bench: $(BENCH_SOURCES) $(B)/workloads/.built
	$(call say,JAVAC,bench/workloads)
	$(Q)$(JDK)/bin/javac --release 11 -Xlint:-options -cp $(BENCH_JARS):$(@D) -d $(@D) $(BENCH_SOURCES) && touch $@
$(B)/bench/replay $(B)/bench/fill_store $(B)/bench/export_load: $(B)/bench/%: $(B)/obj/bench/%.o $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
# The same with the one format of tests/e2e/export_formats.c, for what sending alone costs.
$(B)/tests/sending/export_load: $(call obj,bench/export_load.c tests/e2e/export_formats.c) $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ $(DAEMON_LIBS)
bench-replay: $(B)/bench/replay
	$(Q)$(B)/bench/replay
# The table of performance figures.
bench:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all $(B)/workloads/.bench $(B)/bench/subsume $(B)/bench/import
	$(Q)$(B)/bench/subsume
	$(Q)$(B)/bench/import
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 bench/overhead.py
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 bench/switching.py

# What windows leave behind in a JVM, beside twins that never had one; two hours. JDKs beside those of the machine:
# JXPERF_JDKS="11 21 28" tests/jdks/fetch build/jdks. Variables: bench/residue.py.
bench-residue:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all $(B)/workloads/.bench $(B)/jdks
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 bench/residue.py

# Pairs and accesses for each second of overhead, beside the build of an older commit, in twin JVMs; a quarter of an hour.
# Variables: bench/evidence.py. EVIDENCE_BASELINE names a build that is there already.
EVIDENCE_COMMIT	:= 9907b686519e94c11bc27f528027753dcc5f0144
EVIDENCE_TREE	:= $(B)/baseline
# The agent of that time speaks an older protocol, so all of it is built.
$(EVIDENCE_TREE)/Makefile:
	$(call say,FETCH,$(@D))
	$(Q)git worktree prune && git worktree add --quiet --detach $(@D) $(EVIDENCE_COMMIT)
# What windows find beside an earlier commit, at the same cost.
bench-evidence:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES) tomcat10-user tomcat10-examples"
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/workloads/.bench
	$(if $(EVIDENCE_BASELINE),,$(Q)$(MAKE) --no-print-directory $(EVIDENCE_TREE)/Makefile)
	$(if $(EVIDENCE_BASELINE),,$(Q)$(MAKE) --no-print-directory -C $(EVIDENCE_TREE) B=build all)
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 bench/evidence.py

# Does sampling a fleet estimate its total? Seconds; the daemon's own draws.
$(B)/fleet-sim: $(B)/obj/tests/fleet/simulate.o $(CORE)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lm
# Draws of a fleet on paper, beside what they are to come to.
fleet-sim: $(B)/fleet-sim
	$(Q)$(B)/fleet-sim

# The interval tree beside red-black trees: rows of the same form, a minute or two.
bench-memory:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all $(B)/workloads/.bench
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 bench/memory.py
# What the daemon costs by itself, ten minutes. Variables: bench/idle.py.
bench-idle:
	$(Q)$(MAKE) --no-print-directory all
	$(Q)JXPERF_BUILD=$(B) /usr/bin/python3 bench/idle.py
# The interval tree alone.
bench-tree:
	$(Q)$(MAKE) --no-print-directory $(B)/bench/interval_tree
	$(Q)$(B)/bench/interval_tree
# Subsuming methods: trees of twenty million nodes, a minute or two, and up to a gigabyte.
bench-subsume:
	$(Q)$(MAKE) --no-print-directory $(B)/bench/subsume
	$(Q)$(B)/bench/subsume
# Profiles that other programs wrote, a hundred megabytes of each format; half a minute.
bench-import:
	$(Q)$(MAKE) --no-print-directory $(B)/bench/import
	$(Q)$(B)/bench/import
$(B)/bench/import: $(B)/obj/bench/import.o $(B)/obj/tests/unit/support/jfr_file.o $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $^ -lz -lm
$(B)/bench/%: $(B)/obj/bench/%.o $(CORE)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(SANITIZE) $(LDFLAGS) -o $@ $< $(CORE) -lm

# ---------------------------------------------------------------- demo, install
# Runs the daemon on the workload of a real library, and prints the report.
demo: deps
	$(Q)$(MAKE) --no-print-directory all workloads
	$(Q)JXPERF_BUILD=$(B) tests/demo

# A fleet on one machine: ClickHouse, Prometheus and three daemons with a JVM each; ends with the fleet's report.
demo-fleet: deps
	$(Q)$(MAKE) --no-print-directory all workloads $(B)/clickhouse $(B)/prometheus
	$(Q)JXPERF_BUILD=$(B) tests/demo-fleet

# The pictures of the documents, anew; a minute and a half.
screenshots:
	$(Q)$(MAKE) --no-print-directory deps PACKAGES="$(PACKAGES) $(BENCH_PACKAGES)"
	$(Q)$(MAKE) --no-print-directory all $(B)/workloads/.bench
	$(Q)JXPERF_BUILD=$(B) tests/screenshots

# What is beside the daemon.
CONTRIB	:= README.md prometheus/jxperf.rules.yml prometheus/jxperf.rules.test.yml prometheus/scrape.yml grafana/jxperf.json \
	grafana/jxperf-fleet.json $(patsubst contrib/%,%,$(shell find contrib/kubernetes -type f))

# What is in a package, and what it is linked with.
$(B)/share/jxperf/sbom.spdx.json: packaging/sbom page/package-lock.json $(B)/bin/jxperfd $(B)/lib/jxperf/libjxperf-agent.so $(B)/share/jxperf/page.html
	$(call say,SBOM,$@)
	$(Q)mkdir -p $(@D) && packaging/sbom $(VERSION) $(B) > $@
VERSION	 = $(shell sed -n 's/^\#define JXPERF_VERSION "\(.*\)"/\1/p' proto/limits.h)

# Units name the place they were installed for. A configuration that is there is left as it is.
install: all $(B)/share/jxperf/sbom.spdx.json
	install -d $(addprefix $(DESTDIR)$(PREFIX)/,bin lib/jxperf lib/systemd/system lib/sysusers.d \
		lib/tmpfiles.d share/jxperf share/man/man1 share/man/man5 share/man/man8) $(DESTDIR)$(SYSCONFDIR)/jxperf/jxperfd.conf.d
	install -m 755 $(B)/bin/jxperfd $(B)/bin/jxperfctl $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(B)/lib/jxperf/* $(DESTDIR)$(PREFIX)/lib/jxperf
	[ ! -s $(B)/share/jxperf/page.html ] || install -m 644 $(B)/share/jxperf/page.html $(DESTDIR)$(PREFIX)/share/jxperf
	install -m 644 docs/report.schema.json docs/runbooks.md $(B)/share/jxperf/sbom.spdx.json $(DESTDIR)$(PREFIX)/share/jxperf
	[ -e $(DESTDIR)$(SYSCONFDIR)/jxperf/jxperfd.yaml ] || \
		install -m 644 systemd/jxperfd.yaml $(DESTDIR)$(SYSCONFDIR)/jxperf
	for unit in jxperfd jxperf-broker; do \
		sed 's:@PREFIX@:$(PREFIX):; s:@SYSCONFDIR@:$(SYSCONFDIR):' systemd/$$unit.service.in \
			> $(DESTDIR)$(PREFIX)/lib/systemd/system/$$unit.service || exit 1; done
	install -m 644 systemd/jxperf-broker.socket $(DESTDIR)$(PREFIX)/lib/systemd/system
	install -m 644 systemd/jxperf.sysusers $(DESTDIR)$(PREFIX)/lib/sysusers.d/jxperf.conf
	install -m 644 systemd/jxperf.tmpfiles $(DESTDIR)$(PREFIX)/lib/tmpfiles.d/jxperf.conf
	install -m 644 docs/man/jxperfctl.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 docs/man/jxperfd.yaml.5 docs/man/jxperf-report.5 $(DESTDIR)$(PREFIX)/share/man/man5
	install -m 644 docs/man/jxperfd.8 $(DESTDIR)$(PREFIX)/share/man/man8
	install -D -m 644 client/jxperfctl.bash-completion $(DESTDIR)$(PREFIX)/share/bash-completion/completions/jxperfctl
	for file in $(CONTRIB); do mode=644; [ ! -x contrib/$$file ] || mode=755; \
		install -D -m $$mode contrib/$$file $(DESTDIR)$(PREFIX)/share/jxperf/$$file || exit 1; done
	@echo "For the units: systemd-sysusers $(PREFIX)/lib/sysusers.d/jxperf.conf makes their users; see README.md"

# Takes away what install has put there, but for the configuration.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/,bin/jxperfd bin/jxperfctl share/man/man1/jxperfctl.1 \
		share/man/man5/jxperfd.yaml.5 share/man/man5/jxperf-report.5 share/man/man8/jxperfd.8 \
		lib/systemd/system/jxperfd.service lib/systemd/system/jxperf-broker.service \
		lib/systemd/system/jxperf-broker.socket lib/sysusers.d/jxperf.conf lib/tmpfiles.d/jxperf.conf \
		share/bash-completion/completions/jxperfctl)
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,lib/jxperf share/jxperf)

# A Debian package of the committed tree, in $(B)/deb.
deb:
	$(Q)$(MAKE) --no-print-directory deps
	$(Q)rm -rf $(B)/deb && mkdir -p $(B)/deb/jxperf && git archive HEAD | tar -x -C $(B)/deb/jxperf
	$(Q)cd $(B)/deb/jxperf && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -b -us -uc -d > ../build.log 2>&1 || \
		{ tail -n 30 ../build.log; exit 1; }
	$(Q)lintian --fail-on error --tag-display-limit 0 $(B)/deb/*.changes
	$(Q)ls $(B)/deb/*.deb

# An RPM package of what is built here, in $(B)/rpm; without what this machine's rpm does not know to be installed.
rpm: all
	$(Q)rm -rf $(B)/rpm && mkdir -p $(B)/rpm
	$(Q)rpmbuild -bb --build-in-place --nodeps --define "jxperf_version $(VERSION)" --define "jxperf_build $(B)" \
		--define "_topdir $(abspath $(B))/rpm/work" --define "_rpmdir $(abspath $(B))/rpm" packaging/jxperf.spec > $(B)/rpm/build.log 2>&1 || \
		{ tail -n 30 $(B)/rpm/build.log; exit 1; }
	$(Q)rm -rf $(B)/rpm/work && ls $(B)/rpm/*/*.rpm

-include $(shell find $(B)/obj $(B)/pic -name '*.d' -type f 2>/dev/null)

# Removes what was built.
clean:
	rm -rf $(B)
