"""Requests in Chinese: a verb, its object, and what negates it, within one clause."""

import re
from collections.abc import Iterator
from typing import Final

from .heard import Heard
from .quoted import without_quotes

_TEST: Final = (
    r"(?:单元|集成|全部|所有|回归|端到端|相关|完整){0,3}的?测试(?:用例|套件|集|脚本)?"
    r"|tests?(?:\s+suite)?|pytest|jest|vitest|(?:npm|go|cargo)\s+test"
)
_LINT: Final = r"代码(?:规范)?检查|静态(?:代码)?(?:检查|分析)|格式检查|lint(?:er|ing)?|ruff(?:\s+check)?|eslint|flake8"
_TYPES: Final = r"类型(?:检查|检测|校验)|type[- ]?check(?:ing|er)?|mypy|pyright|tsc"
_OBJECTS: Final = (("test", _TEST), ("lint", _LINT), ("type-check", _TYPES), ("build", r"构建|编译|打包|build"))
_OBJECT: Final = "|".join(f"(?P<k{number}>{pattern})" for number, (_, pattern) in enumerate(_OBJECTS))
_FILLERS: Final = (
    r"一下子?|一遍|一次|下|完整的?|完|全部的?|所有的?|整个|相关的?|现有的?|项目的?|仓库的?|这些|那些"
    r"|你的|我的|的|过|[\s`]"
)
_FILLER: Final = f"(?:{_FILLERS}){{0,6}}"
_RUN: Final = r"(?:重新|再次?|先|完整地?)?(?:运行|执行|跑|重跑|做|进行|run|执行完)"
_CALL: Final = re.compile(rf"(?P<verb>{_RUN}){_FILLER}(?:{_OBJECT})", re.IGNORECASE)
_MORE: Final = re.compile(
    rf"\s*(?:和|与|及|以及|或者?|、|并|,|and|or|&|\+)\s*(?:{_RUN})?{_FILLER}(?:{_OBJECT})", re.IGNORECASE
)
_MAKE: Final = re.compile(
    rf"(?P<verb>确保|保证|务必(?:让|使)?|必须(?:让|使)?|让|使|直到|需要|要求|确认|验证)(?:失败的?|这个|那个|每个|代码|{_FILLERS}){{0,8}}(?:{_OBJECT})"
    r"[、\w]{0,12}?\s*(?:都|全部|全|能够?|可以|必须|要|应该?|是)*\s*(?:通过|成功|全绿|绿|无误|没有?错误|不报错|过(?!程)|pass)",
    re.IGNORECASE,
)
_MUST: Final = re.compile(
    rf"(?:{_OBJECT}){_FILLER}(?:都|全部)?(?P<verb>必须|需要|需|务必|要)(?:都|全部|能|可以|要)*\s*(?:通过|成功|全绿|pass)",
    re.IGNORECASE,
)
_OBJECT_FIRST: Final = re.compile(
    rf"(?:把|将){_FILLER}(?:{_OBJECT}){_FILLER}(?:都|全部|也)?(?P<verb>跑|运行|执行|过)(?:一遍|一下|完|一次)?",
    re.IGNORECASE,
)
_WHOLE: Final = re.compile(
    r"(?:^|[请再并先后来去下])(?P<verb>重新)?(?:构建|编译|打包)(?:一下|一遍)?(?:整个)?(?:项目|工程|代码|程序包)?$"
)
_NOT: Final = re.compile(
    r"(?:不要|不用|不必|不需要?|不需|无需|无须|不能|不可|不许|不准|不得|不再|不想|不|别|勿|请勿|切勿|禁止|避免|跳过|省略|没必要|没有必要)"
    r"(?:再|去|来|先|要|急着|尝试|试图|自己|擅自|直接)*\s*$"
)
_DOUBLE: Final = re.compile(r"(?:不要|别|勿|切勿|请勿|不能|不得)(?:忘记?|忘了|漏了?|漏掉|跳过|省略)(?:了|去|要)?\s*$")
_ASIDE: Final = re.compile(
    r"(?:如何|怎么|怎样|为什么|为何|当|每次|每当|我|我们|用户|他们|脚本|会|能否解释|如果|若|假如|要是|一旦|可以用来|用于|用来|负责|自动|已经|刚才?|没有?)(?:在|去|来|要|来说)*\s*$"
)
_CONDITION: Final = re.compile(r"^\s*(?:如果|若是?|假如|要是|万一)")
_AFTER: Final = re.compile(
    r"^\s*(?:时|的时候|报错|失败|出错|会|的(?!话)|脚本|命令|框架|代码|文件|服务器?|环境|工具|按钮|结果|覆盖率|数据)"
)
_CLAUSES: Final = re.compile(r"[^。！？!?；;\n，,]+(?:、[^。！？!?；;\n，,]+)*")
_CONTRAST: Final = re.compile(r"但是?|不过|而是|然后|接着|只要?|仅|最后|再(?=运行|跑|执行)")
_HAN: Final = re.compile(r"[\u4e00-\u9fff]")
_SKIP: Final = re.compile(rf"(?P<verb>跳过|省略|略过|不跑|不运行){_FILLER}(?:{_OBJECT})", re.IGNORECASE)


def hear(text: str) -> Iterator[Heard]:
    """Everything that a Chinese text says about checks, clause by clause."""
    if not _HAN.search(text):
        return
    text = without_quotes(text)
    conditional = False
    for clause in _CLAUSES.finditer(text):
        goes_on = clause.start() > 0 and text[clause.start() - 1] in "，,"
        conditional = bool(_CONDITION.match(clause[0])) or (conditional and goes_on)
        if _HAN.search(clause[0]) and not conditional:
            yield from _in_clause(clause[0], clause.start())


def _in_clause(clause: str, start: int) -> Iterator[Heard]:
    taken = 0
    for pattern in (_SKIP, _MAKE, _MUST, _OBJECT_FIRST, _CALL, _WHOLE):
        for match in pattern.finditer(clause):
            if match.start() < taken:
                continue
            before = clause[: match.start("verb")] if match["verb"] else clause[: match.start()]
            before = _CONTRAST.split(before)[-1]
            if _ASIDE.search(before) or (pattern in (_CALL, _OBJECT_FIRST) and _AFTER.match(clause[match.end() :])):
                continue
            kinds = _kinds(match) or ("build",)
            end = match.end()
            while pattern in (_CALL, _SKIP) and (more := _MORE.match(clause, end)):
                if _AFTER.match(clause[more.end() :]):
                    break
                kinds, end = (*kinds, *_kinds(more)), more.end()
            taken = max(taken, end)
            unwanted = bool(_NOT.search(before)) or (pattern is _SKIP)
            doubled = bool(_DOUBLE.search(before)) or (pattern is _SKIP and bool(_NOT.search(before)))
            yield Heard(
                start + match.start(), kinds, clause[match.start() : end].strip(), wanted=doubled or not unwanted
            )


def _kinds(match: "re.Match[str]") -> tuple[str, ...]:
    groups = match.groupdict()
    return tuple(kind for number, (kind, _) in enumerate(_OBJECTS) if groups.get(f"k{number}"))
