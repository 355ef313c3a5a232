#!/bin/bash
# Runs every /jobs/NAME.sh in a fresh copy of /seed under strace; the first process of its sandbox.
# What it writes to /out/NAME.* is read by tests/real/sandbox.py.  Being process 1, it cannot be
# killed by a command, and ends whatever a command left running.

limit=$1
calls=execve,execveat,connect,bind,sendto,sendmsg,sendmmsg,chdir,fchdir,clone,clone3,fork,vfork
calls+=,open,openat,openat2,creat,truncate,mkdir,mkdirat,mknod,mknodat,symlink,symlinkat,link,linkat
calls+=,unlink,unlinkat,rmdir,rename,renameat,renameat2,chmod,fchmod,fchmodat,chown,lchown,fchown,fchownat
calls+=,utime,utimes,futimesat,utimensat,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr

fresh() {
    cd /
    chmod -R u+rwX /home/dev /tmp 2>/dev/null
    rm -rf /home/dev /tmp/* /tmp/.[!.]* /dev/shm/* 2>/dev/null
    cp -a /seed /home/dev
    cd /home/dev/app
}

ulimit -u 400 # a line that multiplies itself fills no machine
ulimit -f 400000
for job in /jobs/*.sh; do
    name=${job##*/}
    name=/out/${name%.sh}
    fresh
    timeout -k 1 "$limit" strace -f -qq --seccomp-bpf -y -s 256 -e signal=none -e trace="$calls" -o "$name.trace" \
        bash -c "$(<"$job")" </dev/null >"$name.stdout" 2>"$name.stderr"
    echo $? >"$name.status"
    kill -9 -1 2>/dev/null
    wait
done
