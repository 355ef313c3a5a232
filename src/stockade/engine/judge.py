"""Decides in a context; whatever goes wrong makes the answer stricter, and says so with a code."""

from __future__ import annotations

from stockade.engine.definitions import definitions
from stockade.engine.world import TooManyPaths, facts_for, repositories_for
from stockade.model.action import Action, absolute
from stockade.model.context import Context
from stockade.model.decision import CheckResult, Decision
from stockade.model.effects import Analysis
from stockade.model.verdict import Verdict
from stockade.policy.evaluate import decide
from stockade.policy.policy import Policy
from stockade.shell import analyze
from stockade.store.switch import stopped

_OTHER_SHELLS = "is not bash: its own syntax is not read"


def judge(action: Action, context: Context, policy: Policy, *, look: bool = True) -> Decision:
    """The decision for an action.  With `look`, links on this machine's disk are followed first.

    Never raises: an error inside becomes a deny with the code `guard/internal-error`.
    """
    try:
        return _judge(action, context, policy, look)
    except Exception as error:  # the one place where any error must become a stricter answer
        return _failed(action, policy, error)


def _judge(action: Action, context: Context, policy: Policy, look: bool) -> Decision:
    if context.state:
        reason = stopped(context.state) if look else None
        if reason is not None:
            return _refused(
                action,
                policy,
                "guard/stopped",
                f"everything is stopped: {reason}; a person lifts it with `stockade stop-all --lift`",
            )
    analysis: Analysis | None = None
    if action.key == "bash":
        analysis = analyze(action.command, context, policy.owns)
        if context.shell not in ("bash", "sh", "") and analysis.error is None:
            analysis = analysis._replace(error=("other-shell", f"`{context.shell}` {_OTHER_SHELLS}", 0, 0))
    if look:
        paths = [absolute(path, context.cwd, context.home) for path in action.paths]
        try:
            context = context._replace(files=facts_for(analysis, paths))
            if policy.needs_definitions:
                context = context._replace(definitions=definitions(analysis, context))
            if not policy.trusts_repositories:
                context = context._replace(repositories=repositories_for(analysis))
        except TooManyPaths as error:
            return _refused(action, policy, "guard/too-many-paths", f"{error}: split it")
    return decide(action, context, policy, facts=analysis)


def _refused(action: Action, policy: Policy, rule: str, reason: str) -> Decision:
    check = CheckResult(action.key, action.command or action.subject, Verdict.DENY, rule, "guard", reason, liftable=False)
    return Decision(Verdict.DENY, rule, "guard", reason, "high", policy.mode.name, action, (check,), None)


def _failed(action: Action, policy: Policy, error: Exception) -> Decision:
    reason = f"deciding failed ({type(error).__name__}); please report the command with `stockade log`"
    return _refused(action, policy, "guard/internal-error", reason)
