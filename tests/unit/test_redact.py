"""Redaction: shapes of secrets, values of variables that are named like one, and what is left alone."""

from __future__ import annotations

import time

import pytest

from stockade.secrets.names import env_file, secret_path, secret_variable
from stockade.secrets.redact import MASK, redact, secret_values

A = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0"  # 40 letters and digits of no meaning
SHAPES = [
    "AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", f"ghp_{A}", f"gho_{A}", f"github_pat_{A}", f"glpat-{A}", f"sk-{A}",
    f"sk-ant-api03-{A}",
    f"sk-proj-{A}", f"xoxb-{A}", f"xapp-{A}", "AIza" + A[:35], f"ya29.{A}", f"sk_live_{A}", f"rk_test_{A}", f"whsec_{A}",
    "npm_" + A[:36],
    f"pypi-{A}", f"hf_{A}", "dop_v1_" + "a1" * 32, f"SG.{A}.{A}", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "AGE-SECRET-KEY-1" + "Q" * 58,
]  # fmt: skip


@pytest.mark.parametrize("secret", SHAPES)
def test_shape(secret: str) -> None:
    assert redact(secret) == MASK
    assert redact(f"before ({secret}) after") == f"before ({MASK}) after"
    assert redact(f"x{secret[:8]}") == f"x{secret[:8]}"


TEXTS = [
    # passwords in addresses: only the password
    ("postgres://user:hunter2@db.example:5432/x", f"postgres://user:{MASK}@db.example:5432/x"),
    ("curl https://user:pw@example.com/a?b=c", f"curl https://user:{MASK}@example.com/a?b=c"),
    ("redis://:pw@localhost", f"redis://:{MASK}@localhost"),
    ("postgres://user:p@ss:w@db/x", f"postgres://user:{MASK}@db/x"),
    ("https://user@example.com:8080/a", "https://user@example.com:8080/a"),
    ("git@github.com:owner/repo", "git@github.com:owner/repo"),
    ("https://example.com:8080/@x", "https://example.com:8080/@x"),
    # headers and options
    ("Authorization: Bearer abcdefghijkl", f"Authorization: Bearer {MASK}"),
    ("-H 'authorization: basic YWxhZGRpbjpvcGVu'", f"-H 'authorization: basic {MASK}'"),
    ("tool --password hunter2 x", f"tool --password {MASK} x"),
    ("tool --token=abc", f"tool --token={MASK}"),
    ("tool --api-key 'a b' x", f"tool --api-key {MASK} x"),
    ("tool -password hunter2", f"tool -password {MASK}"),
    ("tool --passwords", "tool --passwords"),
    # assignments
    ("API_KEY=abc make", f"API_KEY={MASK} make"),
    ("export DB_PASSWORD='a b'; x", f"export DB_PASSWORD={MASK}; x"),
    ('TOKEN="a b" x', f"TOKEN={MASK} x"),
    ("client_secret: abc", f"client_secret: {MASK}"),
    ('{"api_key": "abc", "name": "x"}', '{"api_key": ' + MASK + ', "name": "x"}'),
    ("{'token': 'abc'}", "{'token': " + MASK + "}"),
    ("API_KEY=$OTHER x", "API_KEY=$OTHER x"),
    ('API_KEY="$OTHER" x', 'API_KEY="$OTHER" x'),
    ("PATH=/bin x", "PATH=/bin x"),
    ("GIT_AUTHOR_NAME=me", "GIT_AUTHOR_NAME=me"),
    ("author: me", "author: me"),
    # blocks
    ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx", f"{MASK}\nx"),
    ("a\n-----BEGIN PRIVATE KEY-----\nabc", f"a\n{MASK}"),
    ("-----BEGIN PUBLIC KEY-----\nabc", "-----BEGIN PUBLIC KEY-----\nabc"),
    # nothing
    ("", ""),
    ("git commit -m 'rotate the key'", "git commit -m 'rotate the key'"),
    ("sk-short", "sk-short"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "wanted"), TEXTS)
def test_text(text: str, wanted: str) -> None:
    assert redact(text) == wanted
    assert redact(wanted) == wanted


def test_values_of_variables_are_masked_wherever_they_stand_the_longest_first() -> None:
    env = {
        "API_KEY": "secret1",
        "X_TOKEN": "secret1-long",
        "SHORT_KEY": "abc",
        "EMPTY_KEY": "",
        "HOME": "/home/dev",
        "SSH_AUTH_SOCK": "/run/x",
    }
    values = secret_values(env)
    assert values == ("secret1-long", "secret1")
    assert redact("echo secret1 secret1-long abc /home/dev /run/x", values) == f"echo {MASK} {MASK} abc /home/dev /run/x"


VARIABLES = [
    ("API_KEY", True), ("AWS_SECRET_ACCESS_KEY", True), ("GITHUB_TOKEN", True), ("DB_PASSWORD", True), ("PGPASSWD", True),
    ("CREDENTIALS", True),
    ("PRIVATE_X", True), ("AUTH", True), ("GH_PAT", True), ("DATABASE_URL", True), ("SENTRY_DSN", True), ("token", True),
    ("SSH_AUTH_SOCK", False),
    ("GIT_AUTHOR_EMAIL", False), ("AUTHOR", False), ("PATH", False), ("KEYBOARD", False), ("XAUTHORITY", False),
    ("PATTERN", False), ("", False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wanted"), VARIABLES)
def test_variable(name: str, wanted: bool) -> None:
    assert secret_variable(name) is wanted


ENV_FILES = [
    (".env", True), (".ENV", True), (".env.local", True), ("prod.env", True), (".env-prod", True), (".env_x", True),
    ("a.env.b", True),
    (".env.example", False), (".env.sample", False), ("example.env", False), (".envrc", False), (".environment", False),
    ("env", False),
    ("my.environment", False), (".env.local.dist", False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "wanted"), ENV_FILES)
def test_env_file(name: str, wanted: bool) -> None:
    assert env_file(name) is wanted


PATHS = [
    ("/w/.env", "an environment file"), ("/home/dev/.netrc", "a credentials file"), ("/home/dev/.NETRC", "a credentials file"),
    ("/w/x.pem", "a private key or key store"), ("/w/x.key", "a private key or key store"),
    ("/home/dev/.ssh/config", "a credentials folder"),
    ("/home/dev/.ssh", "a credentials folder"), ("/home/dev/.ssh/id_rsa.pub", None), ("/home/dev/.ssh/known_hosts", None),
    ("/home/dev/.config/gh/hosts.yml", "a credentials folder"), ("/home/dev/.config/ghx/y", None),
    ("/etc/shadow", "credentials of the system"),
    ("/etc/sudoers.d/x", "credentials of the system"), ("/etc/passwd", None), ("/w/etc/shadow", None),
    ("/proc/1/environ", "the memory or environment of a process"),
    ("/proc/self/task/3/mem", "the memory or environment of a process"),
    ("/proc/kcore", "the memory or environment of a process"), ("/proc/cpuinfo", None),
    ("/run/secrets/x", "credentials of the system"),
    ("/w/src/key.py", None), ("/w/.sshx/y", None), ("/", None),
]  # fmt: skip


@pytest.mark.parametrize(("path", "wanted"), PATHS)
def test_secret_path(path: str, wanted: str | None) -> None:
    assert secret_path(path) == wanted


EVIL = {
    "colons": "a://" * 50_000, "users": "a://b:" * 20_000, "letters": "A" * 200_000, "keys": "KEY=" * 50_000,
    "blocks": "-----BEGIN " * 20_000,
    "dots": "eyJ" + "a" * 100_000 + "." + "eyJ" + "b" * 100_000, "dashes": "sk-" * 50_000, "words": "token " * 40_000,
    "quotes": 'KEY="' * 40_000,
    "private": "-----BEGIN PRIVATE KEY-----" * 5_000,
}  # fmt: skip


@pytest.mark.parametrize("text", EVIL.values(), ids=EVIL)
def test_no_text_takes_long(text: str) -> None:
    begin = time.monotonic()
    assert len(redact(text)) <= len(text) * len(MASK)
    assert time.monotonic() - begin < 10
