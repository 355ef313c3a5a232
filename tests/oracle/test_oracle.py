"""The oracle itself, without the guard: what it reports is what bash did."""

from __future__ import annotations

import json
import os
import shlex

import pytest

from tests.oracle import sandbox
from tests.oracle.generate import CORPUS
from tests.oracle.layout import REAL_PROGRAMS, SUPPORT, WORKDIR
from tests.oracle.sandbox import Exec, Oracle, OracleError, Run, parse_log
from tests.oracle.xtrace import Traced, parse_trace, split_words

ROWS = [json.loads(line) for line in (CORPUS / "wrong_parses.jsonl").read_text().splitlines()]


def programs(run: Run) -> list[str]:
    return [shlex.join(execution.words) for execution in run.execs]


def test_list_runs_both(oracle: Oracle) -> None:
    assert oracle.run(b"ls; rm -rf 'a b'") == Run(
        execs=(Exec("/usr/bin/ls", ("ls",)), Exec("/usr/bin/rm", ("rm", "-rf", "a b"))),
        traced=(Traced(1, "ls", ("ls",)), Traced(1, "rm -rf 'a b'", ("rm", "-rf", "a b"))),
        files=frozenset(),
        status=0,
        syntax_error=False,
        timed_out=False,
    )


def test_loaded_file_is_known_whatever_argv0_says(oracle: Oracle) -> None:
    (execution,) = oracle.run(b"exec -a ls rm x").execs
    assert execution == Exec("/usr/bin/rm", ("ls", "x"))
    assert execution.words == ("rm", "x")


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (b"echo hi > out", {"out"}),
        (b"> 'a b'; >> $'c\\nd'; ls | tee e f", {"a b", "c\nd", "e", "f"}),
        (b"> ~/y; > /tmp/z", {"/w/home/y", "/tmp/z"}),
        (b"> i", {"i"}),
        (b"cat < i > /dev/null", set()),
        (b"touch x; mkdir d; cp i j", set()),
    ],
)
def test_files_that_were_written(oracle: Oracle, command: bytes, files: set[str]) -> None:
    assert oracle.run(command).files == files


def test_each_command_starts_in_an_empty_folder(oracle: Oracle) -> None:
    oracle.run(b"> left; > ~/left; > /tmp/left; x=1; cd /tmp; find . -delete")
    run = oracle.run(b"echo * ~/* /tmp/* $x; pwd; for f in *; do ls $f; done")
    assert run.traced[0].words == ("echo", "i", "in.txt", "/w/home/*", "/tmp/*")
    assert programs(run) == ["ls i", "ls in.txt"]
    assert oracle.run(b"rm $PWD").execs[0].argv == ("rm", WORKDIR)


def test_here_document_is_expanded_and_passed_on(oracle: Oracle) -> None:
    run = oracle.run(b"cat <<E | bash\nrm $(ls)x\nE")
    assert sorted(programs(run)) == ["bash", "cat", "ls", "rm x"]


def test_process_substitution(oracle: Oracle) -> None:
    run = oracle.run(b"cat <(rm a) > >(tee out)")
    assert sorted(programs(run)) == ["cat /dev/fd/63", "rm a", "tee out"]
    assert run.files == {"out"}


@pytest.mark.parametrize("command", [b"while :; do :; done", b"set +x; while :; do :; done", b"f() { f; }; f"])
def test_endless_builtins_are_stopped(oracle: Oracle, command: bytes) -> None:
    run = oracle.run(command)
    assert run.timed_out or run.status > 128


def test_time_out_kills_what_left_its_session(oracle: Oracle) -> None:
    run = oracle.run(b"coproc setsid bash -c 'set +x; while :; do :; done'; rm x")
    assert run.timed_out
    assert "rm x" in programs(run)
    assert not oracle.run(b"ls").timed_out


def test_endless_loop_of_programs_ends_by_itself(oracle: Oracle) -> None:
    run = oracle.run(b"while ls; do :; done; rm x")
    assert not run.timed_out
    assert programs(run)[-1] == "rm x"


def test_orphans_are_awaited(oracle: Oracle) -> None:
    run = oracle.run(b"(bash -c 'for i in 1 2 3; do ls; done; rm late' & ) ; exit 3")
    assert programs(run)[-1] == "rm late"
    assert run.status == 3


@pytest.mark.parametrize(
    ("command", "ran", "rejected"),
    [
        (b"echo ok\nrm x\nif", ["rm x"], True),
        (b"rm x; if", [], True),
        (b"rm 'x", [], True),
        (b"[[ a b ]]", [], True),
        (b"cat <<E\nunended", ["cat"], False),
        (b"bash -c if; rm x", ["bash -c if", "rm x"], False),
        (b"eval if; rm x", ["rm x"], False),
        (b"echo $((1+)); rm x", [], False),
        (b"nosuch; cd /nowhere", ["nosuch"], False),
    ],
)
def test_syntax_error_of_the_command_itself(oracle: Oracle, command: bytes, ran: list[str], rejected: bool) -> None:
    run = oracle.run(command)
    assert (programs(run), run.syntax_error) == (ran, rejected)


def test_unknown_name_is_reported_without_a_path(oracle: Oracle) -> None:
    run = oracle.run(b"no-such 'a b' || rm x")
    assert run.execs == (Exec("", ("no-such", "a b")), Exec("/usr/bin/rm", ("rm", "x")))


def test_stub_status_and_output(oracle: Oracle) -> None:
    command = b"if ls; then rm a; else rm b; fi; $(date) c"
    assert programs(oracle.run(command, rc=0, out=b"dd of=x\n")) == ["ls", "rm a", "date", "dd of=x c"]
    assert programs(oracle.run(command, rc=7)) == ["ls", "rm b", "date", "c"]
    assert oracle.run(b"ls", rc=7).status == 7


@pytest.mark.parametrize(
    ("command", "last"),
    [
        (b"env -i A=1 rm x", "rm x"),
        (b"echo a b | xargs -n1 timeout 5 rm", "rm b"),
        (b"nice -n 5 nohup setsid -w stdbuf -oL rm x", "rm x"),
        (b"find i -exec rm {} +", "rm i"),
        (b'bash -c \'sh -c "dash -c \\"rm x\\""\'', "rm x"),
        (b"sudo -nu bob -- A=1 rm x", "rm x"),
        (b"sudo --user bob -C 3 doas -u root rm x", "rm x"),
        (b"sudo -l rm", "sudo -l rm"),
        (b"echo 'rm x' | cat | base64 | base64 -d | sh", "rm x"),
    ],
)
def test_wrappers_start_what_they_wrap(oracle: Oracle, command: bytes, last: str) -> None:
    assert programs(oracle.run(command))[-1] == last


def test_commands_cannot_disturb_the_driver(oracle: Oracle) -> None:
    before = oracle.restarts
    run = oracle.run(b"kill -9 -1 1; find / -delete; > /proc/1/fd/1; echo x >&1; exec 19>&-; rm x")
    assert "rm x" in programs(run)
    assert programs(oracle.run(b"ls")) == ["ls"]
    assert oracle.restarts == before


def test_damaged_log_is_an_error() -> None:
    with pytest.raises(OracleError):
        parse_log(b"x\0" * 9)


def test_bytes_that_are_not_text_survive(oracle: Oracle) -> None:
    (execution,) = oracle.run(b"rm $'\\xff' \xfe '\x01' ''").execs
    assert [os.fsencode(word) for word in execution.argv] == [b"rm", b"\xff", b"\xfe", b"\x01", b""]


def test_nul_is_refused(oracle: Oracle) -> None:
    with pytest.raises(ValueError, match="NUL"):
        oracle.run(b"ls\0rm")


def test_wedged_sandbox_is_replaced(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    before = oracle.restarts
    with monkeypatch.context() as patch:
        patch.setattr(sandbox, "HOST_DEADLINE", 0.0)
        assert oracle.run(b"while :; do :; done").timed_out
    assert oracle.restarts == before + 1
    assert programs(oracle.run(b"rm x")) == ["rm x"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("rm -rf 'a b' ''", ("rm", "-rf", "a b", "")),
        ("echo 'it'\\''s' $'a\\tb\\001\\377' '$x'", ("echo", "it's", "a\tb\x01\udcff", "$x")),
        ("echo 'two\nlines'", ("echo", "two\nlines")),
        ("a=1", None),
        ("[[ a == b ]]", None),
        ("(( x = 1 ))", None),
        ("for i in a b", None),
        ("echo 'open", None),
    ],
)
def test_traced_words(raw: str, words: tuple[str, ...] | None) -> None:
    assert split_words(raw) == words


def test_trace_records() -> None:
    assert parse_trace(b"\x01ls\n\x01\x01rm 'a\nb'\n\x01cut of") == (
        Traced(1, "ls", ("ls",)),
        Traced(2, "rm 'a\nb'", ("rm", "a\nb")),
    )
    assert parse_trace(b"") == ()


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_wrong_parse_rows_say_what_runs(oracle: Oracle, row: dict[str, object]) -> None:
    assert set(row) == {"id", "command", "runs", "note"}
    run = oracle.run(str(row["command"]).encode())
    assert sorted(programs(run)) == sorted(row["runs"])  # type: ignore[call-overload]


def test_stub_passes_on_the_programs_that_are_installed() -> None:
    table = (SUPPORT / "stub.c").read_text().split("PASS_THROUGH[] = {")[1].split("}")[0]
    assert sorted(table.replace('"', " ").replace(",", " ").split()[:-1]) == sorted(REAL_PROGRAMS)
