#!/bin/sh
# Installs what tests/jobs needs and this machine lacks, on Debian and as root.  A program that is there
# already stays as it is, wherever it came from.  pyenv has no package: its two jobs need a machine with it.
set -eu
export DEBIAN_FRONTEND=noninteractive

packages() { # program (or a path) and the package that brings it
    cat <<'END'
bwrap bubblewrap
git git
/usr/bin/python3 python3
/usr/lib/python3/dist-packages/pip python3-pip
/usr/share/python-wheels python3-venv
node nodejs
npm npm
make make
gcc gcc
g++ g++
ld binutils
cmake cmake
ninja ninja-build
cargo cargo
go golang-go
javac default-jdk-headless
perl perl
ruby ruby
curl curl
wget wget
sqlite3 sqlite3
psql postgresql-client
script bsdutils
tmux tmux
ipcmk util-linux-extra
flock util-linux
ps procps
hostname hostname
bzip2 bzip2
xz xz-utils
zip zip
unzip unzip
jq jq
rg ripgrep
patch patch
bc bc
setpriv util-linux
END
}

there() {
    case $1 in
        /*) test -e "$1" ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

wanted=$(packages | while read -r program package; do there "$program" || echo "$package"; done | sort -u)
postgresql=no
there /usr/lib/postgresql || postgresql=yes
if [ -n "$wanted" ] || [ $postgresql = yes ]; then apt-get update -qq; fi
# shellcheck disable=SC2086  # a list of words
if [ -n "$wanted" ]; then apt-get install -y -qq --no-install-recommends $wanted >/dev/null; fi
if [ $postgresql = yes ]; then
    apt-get install -y -qq --no-install-recommends postgresql-common >/dev/null
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf # the job makes its own
    apt-get install -y -qq --no-install-recommends postgresql >/dev/null
fi

if ! there uv; then
    /usr/bin/python3 -m pip install -q --target /opt/stockade-jobs uv
    ln -sf /opt/stockade-jobs/bin/uv /usr/local/bin/uv
fi
