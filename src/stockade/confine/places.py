"""Where things lie on a Linux system, as far as a sandbox shows or hides them: tables with a reason a row."""

from __future__ import annotations

from stockade.secrets import names

SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    "/etc", "/opt", "/nix/store", "/nix/var/nix/profiles", "/snap", "/gnu/store",
    "/var/lib/dpkg", "/var/lib/alternatives", "/var/lib/texmf", "/var/lib/ghc", "/var/lib/gems", "/var/cache/fontconfig",
    "/sys/devices/system", "/sys/fs/cgroup", "/run/current-system",
)  # fmt: skip
"""Programs, libraries and settings of the machine: readable in every profile but `strict`."""

STRICT = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store",
    "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf",
    "/etc/passwd", "/etc/group", "/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
    "/etc/ca-certificates",
    "/etc/pki", "/etc/services", "/etc/protocols", "/etc/mime.types", "/etc/terminfo", "/etc/python3", "/etc/gitconfig",
)  # fmt: skip
"""What a program needs to start, and nothing about this machine beyond it."""

RUNTIMES = (
    ".pyenv", ".nvm", ".rustup", ".asdf", ".volta", ".sdkman", ".rbenv", ".rvm", ".goenv", ".jenv", ".fnm", ".juliaup", ".ghcup",
    ".nodenv", ".local/share/mise", ".local/share/fnm", ".local/share/uv", ".local/share/pnpm", ".local/share/rtx",
    ".local/bin", ".local/lib", ".local/pipx", ".local/share/pipx",
    ".cargo/bin", ".cargo/env", ".bun/bin", ".deno/bin", "go/bin", "sdk",
    "miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", ".conda/envs", ".dotnet",
)  # fmt: skip
"""Below the home folder: programs that version managers installed.  Readable, in `strict` too where PATH names them."""

COVERED = (
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/driver",
    "/proc/mtrr",
    "/proc/latency_stats",
    "/proc/dynamic_debug",
)
"""Of a new /proc: what root may write, also as root of a user namespace; covered by its read-only self."""

SYSTEM_SECRETS = (
    *(path for path in names.SYSTEM if path.startswith("/etc/")),
    "/etc/stockade/keys", "/etc/NetworkManager", "/etc/wpa_supplicant", "/etc/rancher", "/etc/kubernetes", "/etc/docker",
    "/etc/letsencrypt",
)  # fmt: skip

HOME_SECRETS = (
    *names.FOLDERS,
    ".netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".vault-token", ".bash_history", ".zsh_history",
    ".python_history", ".psql_history", ".mysql_history", ".cargo/credentials.toml", ".cargo/credentials", ".claude.json",
    ".claude", ".codex", ".gemini", ".config/stockade", ".local/state/stockade",
)  # fmt: skip
"""Masked where `sandbox.read` is `all` or names a folder around them."""

PRIVATE = ("/tmp", "/run", "/var/tmp")
"""New and empty for each command, gone with it."""
