/*
 * The first process of the oracle's sandbox: runs one bash command per request and reports on it.
 *
 * Request  (stdin):  struct request, the command, the stub output.
 * Answer   (stdout): struct answer, then four blobs: argv log, xtrace, stderr, file names.
 *
 * It is pid 1 of its pid namespace (bwrap --as-pid-1). That gives three things for free: every orphan
 * becomes its child, so that "no children left" means that the command is really over; kill(-1) reaches
 * exactly the processes of the command, whatever sessions they made; and nothing inside can kill it.
 *
 * The working folder has the same path for each command, so that a guard can be given that path as its
 * current directory. Everything below /w and /tmp is listed and removed after each command. Files that
 * the driver itself puts there carry modification time 0; any other time means that the command wrote.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BASE "/w"
#define WORKDIR BASE "/cwd"
#define HOME BASE "/home"
#define TEMP "/tmp"
#define LOG_PATH "/log/argv"
#define TRACE_FD 19
#define WALL_SECONDS 2

struct request {
    uint32_t command_bytes;
    uint32_t output_bytes;
    int32_t stub_status;
};

struct answer {
    int32_t wait_status;
    uint32_t timed_out;
    uint32_t log_bytes;
    uint32_t trace_bytes;
    uint32_t error_bytes;
    uint32_t files_bytes;
};

static int log_fd, trace_fd, error_fd, null_fd;
static FILE *files;
static const char *const SEEDS[] = {WORKDIR "/i", WORKDIR "/in.txt"};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void read_full(void *buffer, size_t size) {
    for (char *at = buffer; size > 0;) {
        ssize_t got = read(STDIN_FILENO, at, size);
        if (got == 0) exit(0);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) die("read");
        at += got;
        size -= (size_t)got;
    }
}

static void write_full(const void *buffer, size_t size) {
    for (const char *at = buffer; size > 0;) {
        ssize_t put = write(STDOUT_FILENO, at, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) die("write");
        at += put;
        size -= (size_t)put;
    }
}

static char *read_text(uint32_t size) {
    char *text = malloc((size_t)size + 1);
    if (text == NULL) die("malloc");
    read_full(text, size);
    text[size] = '\0';
    return text;
}

static int capture_file(const char *name) {
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) < 0) die(name);
    return fd;
}

static uint32_t size_of(int fd) {
    struct stat info;
    return fstat(fd, &info) == 0 ? (uint32_t)info.st_size : 0;
}

/* Only processes that could still write have been killed by now, so the size cannot change. */
static void send_file(int fd, uint32_t size) {
    char buffer[65536];
    for (off_t at = 0; at < size;) {
        ssize_t got = pread(fd, buffer, sizeof buffer, at);
        if (got <= 0) die("pread");
        write_full(buffer, (size_t)got);
        at += got;
    }
}

static void plant(const char *path) {
    const struct timespec epoch[2] = {{0, 0}, {0, 0}};
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, "a\nb\n", 4) != 4 || futimens(fd, epoch) < 0) die(path);
    close(fd);
}

static void prepare(void) {
    if (mkdir(WORKDIR, 0755) < 0 || mkdir(HOME, 0755) < 0) die("mkdir");
    for (size_t i = 0; i < sizeof SEEDS / sizeof *SEEDS; i++) plant(SEEDS[i]);
    if (ftruncate(log_fd, 0) < 0 || ftruncate(trace_fd, 0) < 0 || ftruncate(error_fd, 0) < 0)
        die("ftruncate");
}

static int list_and_remove(const char *path, const struct stat *info, int type, struct FTW *place) {
    if (type == FTW_DP) {
        if (place->level > 0) rmdir(path);
        return 0;
    }
    if (info->st_mtime != 0) fwrite(path, 1, strlen(path) + 1, files);
    unlink(path);
    return 0;
}

static void limit(int what, rlim_t value) {
    const struct rlimit both = {value, value};
    setrlimit(what, &both);
}

static void set_limits(void) {
    limit(RLIMIT_CPU, WALL_SECONDS);
    limit(RLIMIT_FSIZE, 1 << 20);
    limit(RLIMIT_AS, 256 << 20);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 256); /* the kernel exempts a sandbox started by root */
}

static _Noreturn void start_bash(char *command, const char *output, int32_t stub_status) {
    char status_text[32], *output_text;
    snprintf(status_text, sizeof status_text, "STUB_RC=%d", (int)stub_status);
    if (asprintf(&output_text, "STUB_OUT=%s", output) < 0) _exit(125);
    /* argv[0] with a slash tells the messages of this shell from those of a nested `bash -c`. */
    char *argv[] = {"/usr/bin/bash", "--norc", "--noprofile", "-c", command, NULL};
    char *environment[] = {
        "HOME=" HOME, "PATH=/usr/bin:/bin", "PWD=" WORKDIR, "LC_ALL=C.UTF-8",
        "SHELLOPTS=xtrace", "BASH_XTRACEFD=19", "PS4=\x01",
        "BASH_FUNC_command_not_found_handle%%=() {  /usr/bin/oracle-not-found \"$@\"\n}",
        status_text, output_text, NULL,
    };
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    dup2(null_fd, STDIN_FILENO);
    dup2(null_fd, STDOUT_FILENO);
    dup2(error_fd, STDERR_FILENO);
    dup2(trace_fd, TRACE_FD);
    set_limits();
    if (chdir(WORKDIR) == 0) execve("/real/bash", argv, environment);
    _exit(125);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Waits for the shell and for all that it left behind; returns 1 when the time is up first. */
static uint32_t wait_for_all(pid_t shell, int *status) {
    const int64_t deadline = now_ns() + WALL_SECONDS * INT64_C(1000000000);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    for (;;) {
        int ended;
        pid_t pid = waitpid(-1, &ended, WNOHANG);
        if (pid == shell) *status = ended;
        if (pid > 0) continue;
        if (pid < 0) return 0;
        int64_t left = deadline - now_ns();
        if (left <= 0) return 1;
        const struct timespec pause = {left / 1000000000, left % 1000000000};
        sigtimedwait(&child, NULL, &pause);
    }
}

/* Repeated, because a process may fork between the kill and its own death. */
static void kill_all(pid_t shell, int *status) {
    for (;;) {
        int ended;
        kill(-1, SIGKILL);
        pid_t pid = waitpid(-1, &ended, 0);
        if (pid == shell) *status = ended;
        if (pid < 0 && errno == ECHILD) return;
    }
}

static void report(int status, uint32_t timed_out) {
    char *names = NULL;
    size_t names_bytes = 0;
    files = open_memstream(&names, &names_bytes);
    if (files == NULL) die("open_memstream");
    nftw(BASE, list_and_remove, 16, FTW_PHYS | FTW_DEPTH);
    nftw(TEMP, list_and_remove, 16, FTW_PHYS | FTW_DEPTH);
    fclose(files);
    const struct answer head = {status,
                                timed_out,
                                size_of(log_fd),
                                size_of(trace_fd),
                                size_of(error_fd),
                                (uint32_t)names_bytes};
    write_full(&head, sizeof head);
    send_file(log_fd, head.log_bytes);
    send_file(trace_fd, head.trace_bytes);
    send_file(error_fd, head.error_bytes);
    write_full(names, names_bytes);
    free(names);
}

static void serve_one(void) {
    struct request head;
    read_full(&head, sizeof head);
    char *command = read_text(head.command_bytes);
    char *output = read_text(head.output_bytes);
    prepare();
    pid_t shell = fork();
    if (shell < 0) die("fork");
    if (shell == 0) start_bash(command, output, head.stub_status);
    int status = 0;
    uint32_t timed_out = wait_for_all(shell, &status);
    if (timed_out) kill_all(shell, &status);
    report(status, timed_out);
    free(command);
    free(output);
}

int main(void) {
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    prctl(PR_SET_DUMPABLE, 0); /* closes /proc/1 to the commands, which have the same uid */
    log_fd = open(LOG_PATH, O_RDWR | O_CLOEXEC);
    null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (log_fd < 0 || null_fd < 0) die("open");
    trace_fd = capture_file("trace");
    error_fd = capture_file("stderr");
    for (;;) serve_one();
}
