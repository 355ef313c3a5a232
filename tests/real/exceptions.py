"""What a described program may do all the same, row by row, each with its reason.

A row is a known difference between a description and the program.  It belongs here only where asking
would not protect anybody: the thing is the program's own, holds nothing of the user's, and the words
of the command cannot turn it into something else.
"""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One known difference: of which programs, what is seen, and why that is no failure.

    `program` is a list of shell patterns with blanks between them, `seen` is one such pattern.
    """

    program: str
    seen: str
    reason: str


BENIGN_PATHS: tuple[Row, ...] = (
    Row("*", "/proc/self/task/*/comm", "a thread gives itself a name"),
    Row("sed", "*/sed??????", "-i: the new text beside the file, before it replaces it"),
    Row("*", "/proc/*/comm", "a process gives itself a name"),
    Row("*", "/proc/self/coredump_filter", "a process says what its own core dump leaves out"),
    Row("*", "/usr/*/__pycache__*", "Python's byte code of installed modules; the kernel refuses it to a user"),
    Row("*", "/etc/*/__pycache__*", "the same, for modules in /etc"),
)

CONTACTS: tuple[Row, ...] = (
    Row("*", "/var/run/nscd/socket", "the C library asks for a name cache before it reads /etc/passwd itself"),
    Row("kubectl", "127.0.0.1:8080", "the Google Cloud SDK's dispatcher asks the local cluster which version to start"),
    Row("npm", "*:53", "the update notifier looks for the registry, at most once a day"),
    Row("uuidgen", "/run/uuidd/request", "asks the daemon that keeps time-based ids apart"),
    Row("black", "/tmp/pymp-*", "workers of its own process pool, on a socket that it made itself"),
)

HELPERS: tuple[Row, ...] = (
    # git and other version control
    Row("git", "git", "git starts its subcommands as processes of their own"),
    Row("git", "git-*", "the same, for those that are files of their own; what contacts a host is `network`"),
    Row("git", "basename", "git-submodule is a shell script"),
    Row("git", "sed", "git-submodule is a shell script"),
    Row("git", "uname", "git-submodule is a shell script"),
    Row("git", "gettext", "git-submodule is a shell script"),
    Row("git", "envsubst", "git-submodule is a shell script"),
    Row("git", "cat", "the pager, where no other is configured"),
    Row("git", "sh", "opens a local repository through `sh -c git-upload-pack`"),
    Row("git", "gpg", "signs and verifies; whoever asks for it is `vcs`"),
    Row("git", "man", "help shows the manual page"),
    Row("git", "ssh", "the transport; what contacts a host is `network`"),
    # archives: the (de)compressor is chosen by the program, and fixed
    Row("tar", "sh", "starts the compressor through `sh -c` with a fixed text"),
    Row("tar", "gzip", "-z, or the archive's first bytes"),
    Row("tar", "bzip2", "-j, or the archive's first bytes"),
    Row("tar", "xz", "-J, or the archive's first bytes"),
    Row("tar", "zstd", "--zstd, or the archive's first bytes"),
    Row("gunzip", "gzip", "a script around gzip"),
    Row("z*", "gzip", "zcat, zgrep, zdiff and their like are scripts around gzip"),
    Row("z*", "bzip2", "zgrep and zdiff choose by the file's name"),
    Row("z*", "xz", "zgrep and zdiff choose by the file's name"),
    Row("z*", "zstd", "zgrep and zdiff choose by the file's name"),
    Row("z*grep", "grep", "a script around grep"),
    Row("z*grep", "sed", "quotes the name of the file"),
    Row("x*grep", "grep", "a script around grep"),
    Row("x*grep", "xz", "a script around xz"),
    Row("b*grep", "grep", "a script around grep"),
    Row("b*grep", "bzip2", "a script around bzip2"),
    Row("zcmp", "zdiff", "one script under two names"),
    Row("zcmp", "cmp", "a script around cmp"),
    Row("zdiff", "diff", "a script around diff"),
    Row("info", "sh", "opens a compressed manual through `sh -c gzip`"),
    Row("info", "gzip", "opens a compressed manual"),
    Row("file", "gzip", "-z looks into compressed files, by a fixed list of programs"),
    Row("file", "bzip2", "the same"),
    Row("file", "xz", "the same"),
    Row("file", "zstd", "the same"),
    Row("file", "lz4", "the same"),
    # text
    Row("diff", "pr", "-l sends the output through it"),
    Row("diff3", "diff", "made of diff; --diff-program is `run`"),
    Row("sdiff", "diff", "made of diff; --diff-program is `run`"),
    Row("ag", "sh", "asks git through popen, with a fixed text"),
    Row("ag", "git", "asks for core.excludesfile, the list of ignored files"),
    Row("yq", "jq", "Python's yq hands its filter to jq, which only prints"),
    Row("watch", "sh", "runs the command that its operands are; that command is judged"),
    Row("bat*", "less", "asks the pager for its version; --pager and the variables are judged"),
    Row("exiftool", "perldoc", "without operands it shows its manual"),
    Row("info", "man", "where there is no info file it shows the manual page"),
    Row("install", "strip", "-s; --strip-program is `run`"),
    Row("egrep fgrep", "grep", "a script around grep"),
    Row("bzgrep", "sed", "quotes the name of the file"),
    Row("zless", "sh", "a script around less"),
    Row("zless", "less", "a script around less"),
    Row("bash", "id", "/etc/profile asks who the user is"),
    # manual pages; info shows them too
    Row("man", "apropos", "-k is apropos"),
    Row("man", "whatis", "-f is whatis"),
    Row("man info git", "locale", "asks for the character set"),
    Row("man info git", "preconv", "formats the page"),
    Row("man info git", "tbl", "formats the page"),
    Row("man info git", "eqn", "formats the page"),
    Row("man info git", "nroff", "formats the page"),
    Row("man info git", "groff", "formats the page"),
    Row("man info git", "troff", "formats the page"),
    Row("man info git", "grops", "formats the page for -t"),
    Row("man info git", "iconv", "-E: in another character set"),
    Row("man info git", "grotty", "formats the page"),
    Row("man info git", "col", "formats the page"),
    Row("man info git", "gzip", "opens a compressed page"),
    Row("man info git", "cat", "the pager, where the output is no terminal"),
    Row("man info git", "pager", "the pager; PAGER and -P are judged"),
    Row("groff", "troff", "groff is a front for it"),
    Row("groff", "grotty", "formats the page; -P and -T choose among fixed programs"),
    Row("groff", "grops", "formats the page"),
    Row("pass", "tty", "a shell script, which asks where to prompt"),
    Row("pass", "which", "a shell script, which looks for gpg"),
    Row("pass", "getopt", "a shell script, which reads its options"),
    Row("pass", "cat", "a shell script, which prints its help"),
    # packages
    Row("apt*", "dpkg", "asks for the architectures"),
    Row("dpkg", "dpkg-query", "the queries of dpkg are a program of their own"),
    Row("dpkg", "dpkg-deb", "looks into packages, and unpacks them"),
    Row("dpkg dpkg-deb", "tar", "a package's content is a tar archive"),
    Row("npm npx corepack tsc", "node", "a script for node"),
    Row("gem rake bundle", "ruby", "a script for ruby"),
    Row("rpm", "sh", "the macros of its own settings ask the system"),
    Row("fakeroot", "getopt", "a shell script, which reads its options"),
    Row("pip*", "lsb_release", "says in its user agent which system this is"),
    Row("pip*", "getopt", "lsb_release is a shell script"),
    Row("pip*", "cut", "lsb_release is a shell script"),
    Row("pip*", "tr", "lsb_release is a shell script"),
    Row("pip*", "uname", "lsb_release is a shell script"),
    Row("pip*", "rustc", "asks its version, for the user agent"),
    # the network and the system
    Row("rsync scp sftp systemctl", "ssh", "the transport; what contacts a host is `network`"),
    Row("scp", "cp", "between two local paths scp is cp"),
    Row("service", "basename", "a shell script, which asks for its own name"),
    Row("mkfs", "mkfs.*", "starts the program for the kind of file system; what is overwritten is `disk`"),
    Row("parallel", "sh", "asks the system for the number of jobs it allows, with a fixed text"),
    Row("parted", "sh", "starts dmidecode through popen"),
    Row("parted", "dmidecode", "asks for the machine's model"),
    Row("gdb", "iconv", "asks which character sets there are"),
    Row("valgrind", "valgrind.bin", "the program behind the script"),
    Row("valgrind", "memcheck-*", "its default tool"),
    Row("gpg", "gpg-agent", "keeps the secret keys; whoever uses them is `secret`"),
    Row("gpg", "dirmngr", "fetches keys; whoever does is `network`"),
    Row("gpg", "gpgconf", "asks where its own parts lie"),
)

OWN_STATE: tuple[Row, ...] = (
    Row("git", "/home/dev/app/.git/index", "status and diff store file times anew; the content stays the same"),
    Row("git", "/home/dev/app/.git/index.lock", "the same: the new index before it is renamed"),
    Row("npm npx", "/home/dev/.npm*", "its own log and the time of the last look for an update"),
    Row("java* jar", "/tmp/hsperfdata_dev*", "counters of the virtual machine, for jstat"),
    Row("black", "/home/dev/.cache*", "remembers which files are formatted already"),
    Row("gpg git", "/home/dev/.gnupg*", "its first start makes an empty key ring and the lock of it"),
    Row("rpm", "/home/dev/.rpmdb*", "without a system database it makes an empty one at home"),
    Row("svn", "/home/dev/.subversion*", "its first start makes its folder of settings, all commented out"),
    Row("tmux", "/tmp/tmux-1000", "makes the empty folder of its sockets"),
    Row("sgdisk", "/home/dev/app/build/disk.img", "-p tries whether the image can be opened for writing, and writes nothing"),
    Row("top", "/home/dev/.config*", "makes the empty folder of its own settings"),
    Row("isort", "/home/dev/app/*.isorted", "--diff and --check write the new text there and remove it"),
    Row("cargo", "/home/dev/.cargo*", "the lock of its cache, and the index of the registry"),
    Row("go", "/home/dev/.cache*", "its cache of compiled packages"),
    Row("pre-commit", "/home/dev/.cache*", "its first start makes its folder and an empty database of hooks"),
    Row("pipx", "/home/dev/.local*", "makes its empty folders and a log"),
    Row("gem", "/home/dev/.local*", "its cache of what the server offers"),
    Row("man git", "/var/cache/man/*", "keeps the formatted page, where it may"),
)

DERIVED: tuple[Row, ...] = (
    Row("split csplit", "{}*", "the operand is a prefix: the pieces lie beside it"),
    Row("sed", "{}*", "-i with a suffix keeps the old text beside the file"),
    Row("cp mv ln install", "{}*", "-b keeps the old file under a name with a suffix; a `/` in it is refused"),
    Row("sqlite3", "{}-journal", "the journal of a database that it writes"),
    Row("isort", "{}.isorted", "the new text, before it replaces the file"),
    Row("zip", "{}.zip", "a name without an ending gets one"),
    Row("7z", "{}.7z*", "a name without an ending gets one; -v makes several files"),
    Row("gzip", "{}.gz", "the packed file replaces the operand"),
    Row("bzip2", "{}.bz2", "the packed file replaces the operand"),
    Row("xz", "{}.xz", "the packed file replaces the operand"),
    Row("zstd", "{}.zst", "the packed file lies beside the operand"),
    Row("lz4", "{}.lz4", "the packed file lies beside the operand"),
)
"""Names that a program makes of a foreseen path, which stands for `{}`; the folder is the same."""

FAILING: dict[str, str] = {
    "atq": "the spool of jobs is closed to a user namespace",
    "blkid": "there is no block device",
    "clear": "there is no terminal",
    "chattr": "prints its version as part of an error",
    "crontab": "there is no spool of tables",
    "dmesg": "the kernel's log is closed to users",
    "exiftool": "the project has no picture",
    "false": "fails by definition",
    "gprof": "the project has no profile",
    "goimports": "prints its help as part of an error",
    "hostnamectl": "there is no systemd",
    "msgmerge": "the project has no translations",
    "pidof": "no process of that name runs",
    "ssh-keygen": "the project has no public key",
    "last": "there is no record of logins",
    "lastlog": "there is no record of logins",
    "locate": "there is no database of names",
    "loginctl": "there is no systemd",
    "logname": "nobody is logged in",
    "ltrace": "the sandbox is under strace already",
    "lsmod": "the kernel shows no modules",
    "lsusb": "the kernel shows no bus",
    "sftp": "there is no network",
    "strace": "the sandbox is under strace already",
    "stty": "there is no terminal",
    "sudo": "a user namespace has no root",
    "tty": "there is no terminal",
    "twine": "the project's archive is no package",
    "watch": "never ends by itself",
}
"""Programs none of whose commands can succeed in the sandbox."""

KNOWN_WRONG: dict[str, str] = {}
"""Commands whose analysis is known to be wrong, each with the fault; a command that is right again fails."""
