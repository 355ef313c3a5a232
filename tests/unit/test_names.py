"""Names of files and variables that hold credentials, and their near misses."""

from __future__ import annotations

import pytest

from stockade.secrets.names import env_file, secret_path, secret_variable


@pytest.mark.parametrize(
    "name", [".env", ".env.local", "prod.env", ".env.production", ".env-test", ".env_old", ".ENV", "app.env.local"]
)
def test_an_environment_file(name: str) -> None:
    assert env_file(name)
    assert secret_path(f"/app/{name}") == "an environment file"


@pytest.mark.parametrize(
    "name",
    [
        ".env.example",
        ".env.sample",
        "sample.env",
        ".env.template",
        ".envrc",
        ".envrc.local",
        "env",
        "environment.md",
        "envoy.yaml",
        ".environment",
    ],
)
def test_no_environment_file(name: str) -> None:
    assert not env_file(name)
    assert secret_path(f"/app/{name}") is None


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/home/dev/.netrc", "a credentials file"),
        ("/x/credentials.json", "a credentials file"),
        ("/home/dev/.ssh/id_rsa", "a credentials file"),
        ("/x/ID_ED25519", "a credentials file"),
        ("/x/server.key", "a private key or key store"),
        ("/x/a.PEM", "a private key or key store"),
        ("/etc/shadow", "credentials of the system"),
        ("/etc/sudoers.d/x", "credentials of the system"),
        ("/run/secrets", "credentials of the system"),
        ("/proc/1/environ", "the memory or environment of a process"),
        ("/proc/self/task/3/mem", "the memory or environment of a process"),
        ("/proc/self/fd/3", "the memory or environment of a process"),
        ("/proc/kcore", "the memory or environment of a process"),
        ("/home/dev/.ssh", "a credentials folder"),
        ("/home/dev/.ssh/config", "a credentials folder"),
        ("/home/dev/.config/gh/hosts.yml", "a credentials folder"),
        ("/home/dev/.AWS/config", "a credentials folder"),
    ],
)
def test_a_secret_path(path: str, reason: str) -> None:
    assert secret_path(path) == reason


@pytest.mark.parametrize(
    "path",
    ["/home/dev/.ssh/known_hosts", "/home/dev/.ssh/id_rsa.pub", "/x/site.crt", "/etc/passwd", "/etc/shadows", "/proc/cpuinfo",
     "/proc/1/status", "/home/dev/.sshrc", "/home/dev/.config/git/config", "/home/dev/keys.md", "/var/lib/dpkg/status", "/"],
)  # fmt: skip
def test_no_secret_path(path: str) -> None:
    assert secret_path(path) is None


@pytest.mark.parametrize(
    "name",
    [
        "API_KEY",
        "GITHUB_TOKEN",
        "DB_PASSWORD",
        "PASSWD",
        "AWS_SECRET_ACCESS_KEY",
        "GH_PAT",
        "DATABASE_URL",
        "SENTRY_DSN",
        "BASIC_AUTH",
        "token",
    ],
)
def test_a_secret_variable(name: str) -> None:
    assert secret_variable(name)


@pytest.mark.parametrize(
    "name",
    [
        "HOME",
        "PATH",
        "SSH_AUTH_SOCK",
        "XAUTHORITY",
        "KEYBOARD_LAYOUT",
        "XKB_KEYMAP",
        "GIT_AUTHOR_NAME",
        "AUTHOR",
        "PATH_X",
        "DSN_X",
    ],
)
def test_no_secret_variable(name: str) -> None:
    assert not secret_variable(name)
