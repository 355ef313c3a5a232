#!/bin/sh
# Installs the programs that tests/real checks, on Debian and as root.  A package that this release
# does not have, or that does not fit what is installed already, is left out with a message: its
# program is then listed as unchecked, and a test asserts that enough programs are left.
set -eu
cd "$(dirname "$0")"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq

wanted=$(mktemp) known=$(mktemp)
trap 'rm -f "$wanted" "$known"' EXIT
sed 's/#.*//; s/[[:space:]]//g; /^$/d' packages.txt | sort -u >"$wanted"
apt-cache pkgnames | sort -u | comm -12 - "$wanted" >"$known"
comm -13 "$known" "$wanted" | sed 's/^/install.sh: not in this release: /' >&2

install() {
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# shellcheck disable=SC2046  # a list of words
if ! install $(cat "$known"); then
    while read -r package; do
        install "$package" </dev/null || echo "install.sh: does not fit: $package" >&2
    done <"$known"
fi
