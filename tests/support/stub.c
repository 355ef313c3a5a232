/*
 * The stand-in for every program of the oracle's sandbox.
 *
 * One static binary is hard-linked under all the names in /usr/bin and /bin. Each start appends one
 * record to LOG_PATH and then does as little as possible:
 *
 *   - a pass-through program (a wrapper, a shell, a harmless filter) becomes the real one from /real;
 *   - sudo and doas skip their options and start the rest, without any privilege;
 *   - time starts its operands, as bash needs it where the word is no keyword;
 *   - the not-found helper answers 127, as bash would have;
 *   - every other name prints $STUB_OUT and exits with $STUB_RC. Nothing is ever removed or written.
 *
 * A record is a run of NUL-terminated fields: MARK, pid, ppid, AT_EXECFN, argc, argv[0..argc-1].
 * AT_EXECFN is the file that the kernel loaded; argv[0] is only a claim (`exec -a ls rm x`).
 *
 * Once the log is longer than LOOP_BYTES the exit status is inverted, so that `while ls; do …` ends
 * after a few hundred rounds instead of at the time limit.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOG_PATH "/log/argv"
#define MARK "\x1e"
#define LOOP_BYTES 4096
#define NOT_FOUND "oracle-not-found"

static const char *const PASS_THROUGH[] = {
    "env",  "xargs", "timeout", "nice", "nohup", "setsid", "stdbuf",   "find",    "bash", "sh",
    "dash", "cat",   "base64",  "tee",  "true",  "false",  "basename", "dirname", "echo", "printf", NULL,
};

/* Options of sudo and doas that take the next word as their value. */
static const char VALUE_LETTERS[] = "ugphCrtTUDR";
static const char *const VALUE_NAMES[] = {
    "--user", "--group", "--prompt",     "--host",            "--role",       "--type",
    "--chdir", "--chroot", "--close-from", "--command-timeout", "--other-user", NULL,
};
/* Options of time that take the next word as their value. */
static const char *const TIME_VALUES[] = {"-f", "-o", NULL};
/* Options of sudo with which it starts nothing: edit, list, validate, version, forget. */
static const char REPORT_LETTERS[] = "elvVK";

static int listed(const char *const *names, const char *name) {
    for (; *names != NULL; names++)
        if (strcmp(*names, name) == 0) return 1;
    return 0;
}

static size_t argv_bytes(char **argv) {
    size_t total = 0;
    for (; *argv != NULL; argv++) total += strlen(*argv) + 1;
    return total;
}

/* One write per record: with O_APPEND the records of concurrent processes never interleave. */
static int log_record(const char *program, int argc, char **argv) {
    size_t room = 128 + strlen(program) + argv_bytes(argv);
    char *record = malloc(room);
    int fd = open(LOG_PATH, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (record == NULL || fd < 0) return 0;
    size_t used = (size_t)snprintf(record, room, "%s%c%d%c%d%c%s%c%d%c", MARK, 0, (int)getpid(), 0,
                                   (int)getppid(), 0, program, 0, argc, 0);
    for (int i = 0; i < argc; i++) {
        size_t length = strlen(argv[i]) + 1;
        memcpy(record + used, argv[i], length);
        used += length;
    }
    ssize_t written = write(fd, record, used);
    struct stat info;
    int looping = fstat(fd, &info) == 0 && info.st_size > LOOP_BYTES;
    close(fd);
    free(record);
    if (written != (ssize_t)used) _exit(125);
    return looping;
}

static int is_assignment(const char *word) {
    const char *equals = strchr(word, '=');
    return equals != NULL && equals != word && word[0] != '/';
}

/* How many words the option at `word` takes; 0 when it is not an option, -1 when nothing will start. */
static int option_words(const char *word) {
    if (word[0] != '-' || word[1] == '\0') return 0;
    if (word[1] == '-') return listed(VALUE_NAMES, word) ? 2 : 1;
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        if (strchr(REPORT_LETTERS, *letter) != NULL) return -1;
        if (strchr(VALUE_LETTERS, *letter) != NULL) return letter[1] == '\0' ? 2 : 1;
    }
    return 1;
}

static int run_as_other_user(int argc, char **argv) {
    int at = 1;
    while (at < argc) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        int words = option_words(argv[at]);
        if (words < 0) return 0;
        if (words == 0) break;
        at += words;
    }
    while (at < argc && is_assignment(argv[at])) putenv(argv[at++]);
    if (at >= argc) return 1;
    execvp(argv[at], argv + at);
    return 127;
}

static int run_timed(char **argv) {
    while (*argv != NULL && (*argv)[0] == '-') argv += listed(TIME_VALUES, *argv) && argv[1] != NULL ? 2 : 1;
    if (*argv == NULL) return 125;
    execvp(*argv, argv);
    return 127;
}

static int run_real(const char *name, char **argv) {
    char path[64];
    snprintf(path, sizeof path, "/real/%s", name);
    execv(path, argv);
    return 126;
}

int main(int argc, char **argv) {
    const char *program = (const char *)getauxval(AT_EXECFN);
    const char *name = program;
    if (strrchr(program, '/') != NULL) name = strrchr(program, '/') + 1;
    int looping = log_record(program, argc, argv);
    if (listed(PASS_THROUGH, name)) return run_real(name, argv);
    if (strcmp(name, "sudo") == 0 || strcmp(name, "doas") == 0) return run_as_other_user(argc, argv);
    if (strcmp(name, "time") == 0) return run_timed(argv + 1);
    if (strcmp(name, NOT_FOUND) == 0) return 127;
    const char *output = getenv("STUB_OUT");
    const char *status = getenv("STUB_RC");
    if (output != NULL) fputs(output, stdout);
    fflush(stdout);
    int code = status != NULL ? atoi(status) : 0;
    if (looping) code = code == 0;
    return code;
}
