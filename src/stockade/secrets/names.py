"""Names of files and variables that hold credentials.  Tables with a reason a row; no I/O."""

from __future__ import annotations

import re

# Folders below a home (or anywhere) whose content is credentials.
FOLDERS = (
    ".ssh", ".aws", ".azure", ".docker", ".gnupg", ".kube", ".password-store", ".terraform.d",
    ".config/gcloud", ".config/gh", ".config/hub", ".config/op", ".local/share/keyrings", ".mozilla",
    ".config/google-chrome", ".config/chromium", ".thunderbird", ".oci", ".config/doctl", ".fly", ".vercel",
)  # fmt: skip
# Files of those folders that only configure, and that tools print all the time.
NOT_SECRET = frozenset(("known_hosts",))
FILES = frozenset(
    (".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf", ".htpasswd", ".vault-token",
     ".dockercfg", ".boto", ".s3cfg", ".rclone.conf", "credentials", "credentials.json", "credentials.toml",
     "service-account.json", "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml", "id_rsa", "id_dsa",
     "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk", "authorized_keys", ".bash_history", ".zsh_history",
     ".python_history", ".psql_history", ".mysql_history", ".node_repl_history", ".sqlite_history", "fish_history",
     "terraform.tfstate", "kubeconfig", "master.key", ".claude.json", "auth.json", "tokens.json")
)  # fmt: skip
SUFFIXES = (".key", ".pem", ".p12", ".pfx", ".kdbx", ".jks", ".keystore", ".ppk", ".asc.key", ".tfstate")
_PUBLIC = (".pub", ".crt", ".cer")
_ENV_EXAMPLES = ("example", "sample", "template", "dist", "defaults")
# Files of the system that hold password hashes or keys, by absolute path.
SYSTEM = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/ssl/private", "/etc/krb5.keytab", "/etc/security/opasswd", "/etc/wireguard", "/etc/ssh",
    "/var/lib/docker", "/root/.ssh", "/run/secrets", "/var/run/secrets", "/run/credentials",
)  # fmt: skip
_SYSTEM_FIRST = ("/etc/", "/var/", "/root/", "/run/", "/proc/")
_FOLDER = re.compile("/(?:" + "|".join(re.escape(folder) for folder in FOLDERS) + ")/")
_PROC = re.compile(r"/proc/[^/]+(?:/task/[^/]+)?/(?:environ|mem|maps|fd|root|cwd|auxv|cmdline)(?:/|$)|/proc/k(?:core|msg)$")
_ENV_FILE = re.compile(r"\.env(?:rc)?(?:[._-].*)?$|.*\.env(?:\..*)?$", re.IGNORECASE)

_VARIABLE = re.compile(r"KEY|SECRET|TOKEN|PASSW(?:OR)?D|CREDENTIAL|PRIVATE|AUTH(?!OR)|_PAT$|DATABASE_URL|_DSN$", re.IGNORECASE)
_NOT_VARIABLE = re.compile(r"^(?:SSH_AUTH_SOCK|XAUTHORITY|KEYBOARD.*|.*KEYMAP.*|COLORKEY|GIT_AUTHOR_.*|HISTKEY)$")


def env_file(name: str) -> bool:
    """Whether a file name is a dotenv file with values (`.env`, `prod.env`, `.env.local`; not examples)."""
    if name.lower().startswith(".envrc"):
        return False
    if _ENV_FILE.match(name) is None:
        return False
    return not any(part in _ENV_EXAMPLES for part in name.lower().split("."))


def secret_path(path: str) -> str | None:
    """Why a normalised absolute path is a secret, or None.  Case is ignored, as some file systems do."""
    lower = path.lower()
    name = lower[lower.rfind("/") + 1 :]
    if "env" in name and env_file(name):
        return "an environment file"
    if name in NOT_SECRET or name.endswith(_PUBLIC):
        return None
    if name in FILES:
        return "a credentials file"
    if name.endswith(SUFFIXES):
        return "a private key or key store"
    if lower.startswith(_SYSTEM_FIRST):
        if _PROC.match(path):
            return "the memory or environment of a process"
        for system in SYSTEM:
            if lower == system or lower.startswith(system + "/"):
                return "credentials of the system"
    if "/." in lower and _FOLDER.search(lower + "/"):
        return "a credentials folder"
    return None


def secret_variable(name: str) -> bool:
    """Whether a variable's name says that its value is a credential."""
    return _VARIABLE.search(name) is not None and _NOT_VARIABLE.match(name) is None
