#!/bin/bash
# Completes the project of tests/real/project.py: archives, compiled files, a database, git history.
# Runs in the home folder that is being prepared.  A tool that is missing leaves its file out.

export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 TZ=UTC LC_ALL=C
export GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@example.org GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@example.org
cd app || exit 1

head -c 4096 /usr/bin/env >data/blob.bin
head -c 4000 data/blob.bin >data/blob.old
base64 data/blob.bin >data/blob.b64
truncate -s 1M build/disk.img
xxd README.md >notes.hex
xxd -p README.md >data/key.hex
seq 2000 >data/big.txt
for n in "" .1 .2; do gzip -nc logs/app.log >"logs/app.log$n.gz"; done
gzip -nc .env >.env.gz
gzip -nc data/users.csv >../backup.gz
xz -c data/users.csv >data/old.csv.xz
zstd -q data/users.csv -o data/old.csv.zst
lz4 -q data/users.csv data/old.lz4
bzip2 -kc data/users.csv >data/old.csv.bz2

(cd build && printf 'int main(void){return 0;}\n' >m.c && gcc -g -o app m.c && gcc -g -c -o a.o m.c && cp a.o b.o && cp a.o app.o
 gcc -shared -fPIC -o lib.so m.c; rm -f m.c; ar rcs ../dist/lib.a a.o b.o)
ln -s app build/current
mkdir -p build/out/logs build/root node_modules/.bin cache
ln -s ../typescript/bin/tsc node_modules/.bin/tsc

tar --sort=name --mtime=@0 -cf dist/bundle.tar README.md src
tar --sort=name --mtime=@0 -czf dist/bundle.tgz README.md src
cp dist/bundle.tgz dist/app-1.0.tar.gz; cp dist/bundle.tgz dist/a.tgz
tar --sort=name --mtime=@0 -cJf dist/a.tar.xz README.md src
(zip -qr dist/docs.zip docs; zip -qr dist/bundle.zip README.md src; 7z a dist/docs.7z docs) >/dev/null
mkdir -p build/deb/DEBIAN build/deb/opt && cp README.md build/deb/opt
printf 'Package: tool\nVersion: 1\nArchitecture: all\nMaintainer: Dev <dev@example.org>\nDescription: a tool\n' >build/deb/DEBIAN/control
dpkg-deb -b build/deb build/tool.deb >/dev/null; rm -r build/deb
find src | cpio -o --quiet >dist/src.cpio
sha256sum README.md dist/bundle.tgz >dist/SHA256SUMS
sqlite3 data/app.db 'create table users(name); insert into users values(1); create table sessions(id)'
(openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=app -keyout certs/key.pem -out certs/server.pem) 2>/dev/null
mkdir -p ../.ssh ../bin ../other && echo 'not a key' >../.ssh/id_rsa && cp ../.ssh/id_rsa ../.ssh/id_ed25519
cp src/app.py ../other/app.py

git init -q -b main .
printf '/build/\n/dist/\n/node_modules/\n.env*\n' >.gitignore
git config lfs.repositoryformatversion 0 # what lfs writes on its first start
git config user.name Dev; git config user.email dev@example.org
git remote add origin https://git.example.org/app.git
git add -A; git commit -qm 'First'
git tag v2.0
for n in 1 2 3; do echo "# $n" >>src/util.py; git commit -qam "Change $n"; done
git update-ref refs/remotes/origin/main HEAD~1
git branch topic HEAD~2
echo '# stashed' >>src/app.py; git stash -q
echo '# not committed' >>src/app.py
(cd .. && hg init hgrepo) 2>/dev/null
exit 0
