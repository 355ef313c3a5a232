#!/usr/bin/env bash
# The scoreboard with two guards that anyone can install, from npm and from PyPI:
#   benchmarks/guards.sh FOLDER [OPTIONS of `stockade bench guard`…]
# FOLDER keeps what is installed. They are asked as they come, with the settings that they begin with.
set -eu
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
folder=${1:?usage: benchmarks/guards.sh FOLDER [OPTIONS…]}
shift
mkdir -p "$folder"
[ -e "$folder/npm/node_modules/.bin/cc-safety-net" ] || npm install --silent --prefix "$folder/npm" cc-safety-net@2.4.5
if [ ! -e "$folder/pypi/bin/belay" ]; then
  python3 -m venv "$folder/pypi"
  "$folder/pypi/bin/pip" install -q agentbelay==0.1.0
fi
exec "$root/stockade" bench guard --corpus "$root/tests/corpus" \
  --guard "cc-safety-net=$folder/npm/node_modules/.bin/cc-safety-net hook --claude-code" \
  --guard "agentbelay=$folder/pypi/bin/belay hook claude-code" "$@"
