"""The grammar of the realistic command source, as data; `grammar.py` says how a rule is written.

The rows are what people and agents type. The weights keep most statements simple, so that a command of
four statements starts a handful of programs.
"""

from __future__ import annotations

RULES = {
    "program": """
        3 <line>
        3 <line><line>
        2 <line><line><line>
        1 <line><line><line><line>
    """,
    "block": """
        3 <line>
        1 <line><line>
    """,
    "line": """
        6 <statement>;␣
        2 <statement>;
        6 <statement>⏎
        1 <statement> # it's a note⏎
        1 <statement>;⏎⏎
        1 <statement> &␣
        2 <document>
    """,
    "statement": """
        8 <simple>
        4 <pipeline>
        4 <list>
        8 <compound>
    """,
    "list": """
        4 <pipeline> && <pipeline>
        3 <pipeline> || <pipeline>
        1 <pipeline>&&<pipeline>
        1 <pipeline> &&⏎<simple> || <simple>
    """,
    "pipeline": """
        4 <simple>
        4 <simple> | <simple>
        1 <simple>|<simple>
        1 <simple> |& <simple>
        1 <simple> |⏎ <simple> | <simple>
    """,
    "simple": """
        12 <call><redirects>
        4 <builtin><redirects>
        2 <assignment>
        1 <assignment> <call><redirects>
        4 <wrapped>
    """,
    "call": """
        3 <program_name>
        5 <program_name> <word>
        5 <program_name> <word> <word>
        2 <program_name> <word> <word> <word>
    """,
    "program_name": """
        40 <name>
        2 '<name>'
        2 "<name>"
        2 \\<name>
        2 /usr/bin/<name>
        1 /bin/<name>
        1 $'<name>'
        1 ''<name>
        2 command <name>
        1 ${c:-<name>}
    """,
    "assignment": """
        4 <variable>=<word>
        1 <variable>=
        1 <variable>+=<word>
        1 <variable>=(<word> <word>)
    """,
    "builtin": """
        4 echo <word>
        2 echo -n <word> <word>
        2 printf '%s\\n' <word>
        2 cd .
        1 pwd
        1 :
        1 : <word>
        2 true
        1 false
        2 test -f <word>
        2 [ -n <word> ]
        2 export A=<word>
        1 set -- <word>
        1 unset v
        1 read v <<< <word>
        1 declare v=<word>
        1 shift
        1 type <word>
        1 umask 022
        1 wait
    """,
    "wrapped": """
        3 env A=1 <inner>
        1 env -i <inner>
        1 env -u A <inner>
        2 timeout 5 <inner>
        1 timeout -s KILL 5s <inner>
        1 nice -n 5 <inner>
        1 nice <inner>
        1 nohup <inner>
        1 setsid <inner>
        1 stdbuf -oL <inner>
        2 sudo <inner>
        1 sudo -u root -n <inner>
        1 command <inner>
        1 builtin <builtin>
        1 exec <inner>
        2 eval <quoted:block>
        1 eval <inner>
        3 bash -c <quoted:block>
        2 sh -c <quoted:list>
        1 bash -ec <quoted:pipeline> x y
        2 echo a b | xargs <inner>
        1 ls | xargs -I{} <inner> {}
        1 printf 'a\\0b' | xargs -0 -n1 <inner>
        2 find . -name '*.txt' -exec <inner> {} \\;
        1 find . -type f -exec <inner> {} +
        1 time <inner>
        1 ! <inner>
    """,
    "inner": """
        3 <call>
        1 <wrapped>
    """,
    "redirects": """
        9
        3 ␣<redirect>
        1 ␣<redirect> <redirect>
    """,
    "redirect": """
        3 > <target>
        1 ><target>
        2 >><target>
        2 2><target>
        3 2>&1
        3 2>/dev/null
        2 < in.txt
        1 <i
        1 &><target>
        1 &>> <target>
        1 >| <target>
        1 3<> <target>
        1 <<< <word>
        1 >&2
        1 < <(ls)
        1 > >(tee <target>)
        1 0<&-
    """,
    "target": """
        4 out
        2 log.txt
        1 "a b"
        1 /tmp/z
        2 /dev/null
        1 $v.txt
        1 ~/y
    """,
    "document": """
        3 cat <<E<tail>⏎<body>⏎E⏎
        3 cat <<'EOF'<tail>⏎<body>⏎EOF⏎
        1 tee out <<"E"<tail>⏎<body>⏎E⏎
        1 <call> <<\\E<tail>⏎<body>⏎E⏎
        1 <call> <<-E<tail>⏎⇥<body>⏎⇥E⏎
        1 cat <<A - <<B<tail>⏎<body>⏎A⏎<body>⏎B⏎
    """,
    "tail": """
        4
        1 ␣| wc
        1 ␣> out
        1 ␣&& rm x
        1 ; rm x # y
    """,
    "body": """
        2 hello
        1 a⏎b
        2 x <parameter>
        2 $(<call>)
        1 it's `ls`
        1 \\$v \\⏎z
    """,
    "compound": """
        2 if <list>; then <block>fi
        1 if <simple>; then <block>else <block>fi
        1 if <simple>⏎then <block>elif <simple>; then <block>fi
        2 for f in <word> <word>; do <block>done<redirects>
        1 for f in *⏎do <block>done
        1 for ((i=0; i<2; i++)); do <block>done
        2 while IFS= read -r line; do <block>done < in.txt
        1 while <list>; do <block>break; done
        1 until <simple>; do <block>break; done<redirects>
        2 case <word> in <pattern> <block>;;⏎*) <simple>;; esac
        1 case <word> in <pattern> <block>;& <pattern> <simple> ;; esac
        2 { <block>}<redirects>
        2 ( <block>)<redirects>
        1 (<pipeline>)
        1 deploy() { <block>}; deploy <word>
        1 function run_it { <block>}; run_it
        1 run_it ()⏎{ <block>}⏎run_it <word> | <simple>
        1 [[ -f <word> ]] && <simple>
        1 [[ "$v" == a* || -n $(<call>) ]] || <simple>
        1 [[ $v =~ ^a.*b$ ]]
        1 [[ ! -e x && ( -d . ) ]] && <simple>
        1 (( n++ ))
        1 (( n > 1 )) || <simple>
    """,
    "pattern": """
        2 a|b)
        1 (a)
        1 *.txt)
        1 'a b')
        1 $v)
        1 [0-9]*)
    """,
    "word": """
        20 <argument>
        8 <quoted_word>
        6 <parameter>
        4 <substitution>
        1 *
        1 *.txt
        1 ~
        1 ~/x
        1 {a,b}
        1 x{,.bak}
        1 {1..3}
        1 [a-c]*
        1 $((1 + 2))
    """,
    "quoted_word": """
        3 'a b'
        2 "a b"
        1 a\\ b
        1 ""
        1 ''
        1 $'a\\tb'
        1 $'\\x41'
        1 '$v'
        1 "\\$v"
        1 'it'\\''s'
        3 "$<variable>"
        2 "a${<variable>}b"
        1 a'b'"c"
        1 "a # b"
        1 a#b
        1 '#'
        1 '; rm x'
        1 "; rm x"
        1 \\;
        1 a\\⏎b
        1 "a⏎b"
        1 \\\\
    """,
    "parameter": """
        4 $<variable>
        2 ${<variable>}
        2 ${<variable>:-<operand>}
        1 ${<variable>-x}
        1 ${<variable>:+<operand>}
        1 ${<variable>:=x}
        1 "${<variable>:-<argument>}"
        1 ${#<variable>}
        1 ${<variable>#a*}
        1 "${<variable>%%.*}"
        1 ${<variable>/a/<operand>}
        1 ${<variable>//a/}
        1 ${<variable>:0:1}
        1 ${<variable>^^}
        1 ${<variable>@Q}
        1 ${<variable>[0]}
        1 $?
        1 $1
        1 "$@"
    """,
    "operand": """
        1 <word>
    """,
    "substitution": """
        4 $(<simple>)
        3 "$(<pipeline>)"
        1 $(<block>)
        1 `<name> <argument>`
        1 <(<call>)
        1 $(( $(<call>) + 1 ))
    """,
    "name": """
        4 ls
        9 rm
        3 cp
        3 mv
        3 git
        2 grep
        2 sed
        2 awk
        2 curl
        2 python3
        2 make
        2 npm
        2 cat
        2 tee
        2 find
        1 head
        1 sort
        1 wc
        1 touch
        1 mkdir
        1 chmod
        1 dd
    """,
    "argument": """
        4 x
        2 y
        2 a
        2 b.txt
        2 in.txt
        2 src/main.c
        1 .
        1 ..
        1 /
        2 -f
        2 -rf
        2 -n
        1 -v
        1 --all
        1 --
        1 -
        1 status
        1 install
        1 +x
        1 755
        1 a=b
        1 A:B
        1 %
    """,
    "variable": """
        2 v
        1 w
        1 n
        1 A
    """,
}
