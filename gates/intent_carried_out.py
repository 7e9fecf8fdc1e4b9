"""intent_carried_out: the candidate does not end by announcing something that the model then does not do.

Deliberately lenient after two corrections: then the answer passes as it is, since words alone prove nothing either way.
"""

import re
from typing import Final

from states.history import History
from states.verdicts import Pass, Retry, Ruling

from .gate import Gate

RETRIES: Final = 2
"""Corrections per run, after which the candidate passes (blade-code's limit)."""
TAIL: Final = 200
"""Characters at the end that are looked at (blade-code's window)."""
LONG_BLOCK: Final = 50
"""Characters in a fenced block from which on it counts as work that was shown instead of done (blade-code's limit)."""

MESSAGE: Final = (
    "Your last message announces or shows work, but you called no tool, so nothing of it has happened. Carry it out "
    "now with your tools. If everything is already done, or nothing had to be done, say so in plain words."
)

_FENCED: Final = re.compile(r"^[ \t]*```([^\n`]*)\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_SHOWN: Final = frozenset({"text", "txt", "console", "output", "log", "plain", "plaintext", "diff", "mermaid"})
"""Languages of blocks that show something that exists, rather than work to be done."""
_VERBS: Final = (
    "add|adjust|analy[sz]e|apply|begin|build|change|check|create|debug|delete|edit|examine|execute|explore|find|fix|"
    "generate|implement|inspect|install|investigate|look|make|modify|move|open|proceed|read|refactor|remove|rename|"
    "replace|review|rewrite|run|search|see|set up|start|test|try|update|use|verify|view|write"
)
_ENGLISH: Final = re.compile(
    rf"""\b(?:
      (?:let['’]?s|let\ me)\ (?:now\ |first\ |also\ |then\ |next\ |quickly\ )*(?:{_VERBS})\b
    | (?:(?:i|we)['’]ll|(?:i|we)\ will|(?:i\ am|i['’]m|we['’]re)\ (?:now\ )?going\ to|i\ need\ to|i\ want\ to)[ ]
      (?:now\ |first\ |also\ |then\ |next\ |start\ by\ \w+\ )*(?:{_VERBS})\b
    | (?:now|next|first|then),?\ (?:creating|fixing|updating|running|checking|writing|editing|adding|implementing)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_CHINESE: Final = re.compile(
    r"(?:让我|我来|我先|我现在|我接下来|接下来我?|下面我?|我将|我会|我要|我想|现在我?(?:来|就|将|要))"
    r"(?:们|先|来|再|就|将|会|要|去|开始|马上|立即|一下|首先)*"
    r"(?:查看|看看?|检查|修复|修改|创建|编写|写|编辑|添加|实现|更新|运行|执行|分析|开始|测试|删除|重构|搜索|阅读|读取|安装|处理)"
)
_OFFER: Final = re.compile(
    r"""\b(?:if|once|when(?:ever)?|unless|after|before|would\ you|do\ you|shall\ i|should\ i|let\ me\ know|tell\ me
    |feel\ free|as\ soon\ as|in\ (?:the\ )?future|not|never|won['’]t|can['’]t|cannot|unable)\b
    |如果|若|只要|等你|需要我|要不要|是否|请告诉|告诉我|随时|以后|不会|无法|不能|吗""",
    re.VERBOSE | re.IGNORECASE,
)
_WAIT: Final = re.compile(
    r"please (?:wait|hold on)|one moment|just a moment|hold on|stand by|give me a (?:moment|second)"
    r"|请?稍候|请?稍等|请等待",
    re.IGNORECASE,
)
_OPEN_END: Final = re.compile(r"(?:[:：]|\.\.\.|…)[\s*_]*$")
_STEP: Final = re.compile(rf"\s*\d+[.)]\s*\**(?:first|next|then|finally)[,:]?\s+(?:{_VERBS})\b", re.IGNORECASE)
_BREAKS: Final = re.compile(r"(?<=[^\d\s][.!?])\s+|(?<=[。！？；])|\n+")


class IntentCarriedOut(Gate):
    name = "intent_carried_out"
    may = (Retry,)

    def judge(self, history: History) -> Ruling:
        tools = history.started is not None and bool(history.started.tool_names)
        if not tools or history.output is not None or history.retries[self.name] >= RETRIES:
            return Pass()  # words beside an output that was handed in announce nothing
        text = history.text.strip()
        if not history.effects_since_input and shows_work(text):
            return Retry("work was shown, not done", MESSAGE)
        return Retry("the answer ends by announcing what it does not do", MESSAGE) if announces(text) else Pass()


intent_carried_out: Final = IntentCarriedOut()


def shows_work(text: str) -> bool:
    """Whether a closed block of code is long enough to be work."""
    return any(
        len(inner.strip()) >= LONG_BLOCK and language.strip().lower() not in _SHOWN
        for language, inner in _FENCED.findall(text)
    )


def announces(text: str) -> bool:
    """Whether the last sentence says what comes next, and nothing comes. An offer or a question announces nothing."""
    if text.count("```") % 2:
        return False
    prose = _FENCED.sub("", text).rstrip()
    if prose != text.rstrip() and text.rstrip().endswith("```"):
        return False  # the block is what was announced
    if _OPEN_END.search(prose):
        return True
    sentences = [part for part in _BREAKS.split(prose[-TAIL:]) if part and part.strip()]
    last = sentences[-1] if sentences else ""
    if _WAIT.search(last) and not _OFFER.search(last):
        return True
    plans = _ENGLISH.search(last) or _CHINESE.search(last) or _STEP.match(last)
    return bool(plans) and not last.rstrip().endswith(("?", "？")) and not _OFFER.search(last)
