"""The command line as Click reads it: commands made of the options of verbs, refusals in one line.

Nothing is computed here: what was typed becomes a :class:`CommandLine`. Paths have one rule and
one wording for all verbs, and are looked up before any work is done.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from difflib import get_close_matches
from glob import has_magic
from pathlib import Path
from typing import Any, NoReturn

import click
from click.shell_completion import CompletionItem, get_completion_class

from judgerel_ray import examples
from judgerel_ray.cli.screen import one_line, tell
from judgerel_ray.core import SweepError
from judgerel_ray.core.files import STANDARD_INPUT, check_regular
from judgerel_ray.core.verb import (
    FORCE,
    GROUPS,
    Labelled,
    Named,
    OptionFlag,
    Verb,
    all_verbs,
    annotation,
    default_shown,
    find_verb,
    flag,
    flag_of,
    spelled,
)
from judgerel_ray.core.version import __version__

PROGRAM = "judgerel"
COMPLETION = "_JUDGEREL_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
MISTAKE = 2
STDOUT = 1
_JSON = flag("print JSON")["flag"]
_FORMAT = flag("table (default), json, markdown, with a comma between", "NAMES")["flag"]
_GATE = flag("table (default), json, markdown, junit, with a comma between", "NAMES")["flag"]
_FILE = flag("also write .parquet, .csv or .json", "FILE")["flag"]
_RAW = flag(
    "write texts of a CSV as they are; else an apostrophe guards those that a spreadsheet would run"
)["flag"]
_LENGTH = {
    "md": flag("print Markdown for a pull request or an issue, as --format markdown does")["flag"],
    "full": flag("print all there is, not the short answer alone")["flag"],
    "explain": flag("print what the words and columns of the short answer mean, too")["flag"],
}
PRINTING: dict[str, dict[str, OptionFlag]] = {
    "": {},
    "json": {"json": _JSON},
    "plan": {
        "json": _JSON,
        "full": flag("print every note, and the sweep with every default")["flag"],
    },
    "format": {"format": _FORMAT, **_LENGTH},
    "file": {"format": _FORMAT, **_LENGTH, "out": _FILE, "force": FORCE["flag"], "raw_cells": _RAW},
    "gate": {"format": _GATE, **_LENGTH},
}
"""Flags of printing, by the kind that a verb has."""
SWITCHES = ("json", "force", "raw_cells", *_LENGTH)
_READING, _WRITING = "How judgments are read and grouped", "What is printed and written"
FIRST = f"""\
How far can an LLM judge be trusted? To begin with, two simulated judges:
  {PROGRAM} --examples tryout && cd tryout
  {PROGRAM} reduce judgments.csv   how far each repeats itself
  {PROGRAM} gate judgments.csv     may it decide? PASS, FAIL or INCONCLUSIVE
Then with yours:
  {PROGRAM} reduce FILE            a sheet or log of judgments, in many layouts
  {PROGRAM} init FILE              questions with answers: writes a first sweep
                               of an API's judge; then plan, run and reduce
{PROGRAM} --help lists all verbs; {PROGRAM} VERB --help ends with two examples.
{PROGRAM} --install-completion SHELL (bash, zsh, fish) has commands completed."""
"""What is said where nothing is asked."""
FEW = 4
"""Most verbs that a hint lists; beyond this it points to --help."""
_NEAR = 0.8
"""How alike two flags are of which one is a slip of the other: --items is none of --limits."""
_NUMBER = re.compile(r"-\d|-\.\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandLine:
    """What was typed."""

    verb: Verb
    source: str
    # Options as texts, those given alone; of a flag that repeats, all.
    texts: dict[str, Any] = field(default_factory=dict)
    more: tuple[str, ...] = ()  # Files of the same table, where several are named.
    printing: dict[str, Any] = field(default_factory=dict)  # Flags of printing, likewise.

    def request(self) -> Any:
        """The options; SweepError where one is wrong."""
        read = {one.name: flag_of(one).read for one in fields(self.verb.options)}  # type: ignore[arg-type]
        values = {}
        for name, text in self.texts.items():
            reader = read[name]
            values[name] = text if reader is None else reader(text)
        return self.verb.options(**values)


class Leave(Exception):  # noqa: N818
    """A text that was asked for in place of work: help, the version, a script of completion."""


def parse(arguments: Sequence[str] | None = None) -> CommandLine:
    """Read a command line.

    Examples
    --------
    >>> parse(["panels", "a.csv", "--seed", "3"]).texts
    {'seed': 3}
    """
    try:
        typed = _Verbs(PROGRAM).main(
            arguments, PROGRAM, complete_var=COMPLETION, standalone_mode=False
        )
    except Leave as text:
        print(text)
        raise SystemExit(0) from None
    except click.UsageError as error:
        _refuse_typed_command(error)
    except click.Abort:
        raise KeyboardInterrupt from None
    assert isinstance(typed, CommandLine)
    return typed


def _refuse_typed_command(error: click.UsageError) -> NoReturn:
    """Say what is wrong in one line and leave with 2."""
    name = error.ctx.command_path if error.ctx else PROGRAM
    what, hint = error.format_message().rstrip("."), f"{name} --help"
    if isinstance(error, click.NoSuchOption):
        option = error.option_name
        near = get_close_matches(option, error.possibilities or (), n=1, cutoff=_NEAR)
        what = f"no such option: {option}{f' (meant {near[0]}?)' if near else ''}"
        hint = hint if near else _verbs_with_typed_flag(option) or hint
    tell(f"{PROGRAM}: {one_line(what[0].lower() + what[1:])}. Try: {hint}", stderr=True)
    raise SystemExit(MISTAKE)


def _verbs_with_typed_flag(option: str) -> str | None:
    """The verb that is called as an option is, else the verbs that have it."""
    verbs = all_verbs()
    others = [
        name for name, one in verbs.items()
        if option in map(spelled, _command_flags_of_verb(one))
    ]  # fmt: skip
    if option.removeprefix("--") in verbs:
        others = [option.removeprefix("--")]
    if len(others) > FEW:
        return f"{PROGRAM} --help"
    return f"{PROGRAM} {' or '.join(others)}" if others else None


def _command_flags_of_verb(verb: Verb) -> list[Field[Any]]:
    """Options that are flags, those of many verbs last."""
    named = [one for one in fields(verb.options) if one.kw_only]  # type: ignore[arg-type]
    return sorted(named, key=lambda one: _is_shared_command_flag(verb, one.name))


def _is_shared_command_flag(verb: Verb, name: str) -> bool:
    """Whether an option is one of many verbs, listed after a verb's own."""
    of_right = isinstance(verb.options, type) and issubclass(verb.options, Labelled)
    return name == "by" or name in (Labelled if of_right else Named).__dataclass_fields__


class _Text(click.ParamType[str]):
    """Words as they are, completed as files where they may be."""

    name = "text"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str  # noqa: ARG002
    ) -> list[CompletionItem]:  # fmt: skip
        """Files."""
        return [CompletionItem(incomplete, type="file")]


class _Number(click.ParamType[float]):
    """A number, whole or not."""

    name = "number"

    def __init__(self, make: Callable[[str], float]) -> None:
        self.make = make

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number; a usage error where it is none."""
        try:
            return self.make(value)
        except ValueError:
            kind = "a whole number" if self.make is int else "a number"
            named = param.opts[0] if param else "it"
            raise click.UsageError(f"{named} must be {kind}, got {value!r}", ctx) from None


class _Choice(click.Choice[str]):
    """One of some words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word; a usage error where it is none of them."""
        if value in self.choices:
            return str(value)
        named = param.opts[0] if param else "it"
        known = ", ".join(self.choices)
        raise click.UsageError(f"{named} must be one of {known}, got {value!r}", ctx)


def _leave_with_command_help(context: click.Context, _: click.Parameter, typed: bool) -> None:
    """Leave with the help of a command."""
    if typed and not context.resilient_parsing:
        raise Leave(context.get_help())


def _version(context: click.Context, _: click.Parameter, typed: bool) -> None:
    """Leave with the version."""
    if typed and not context.resilient_parsing:
        raise Leave(f"{PROGRAM} {__version__}")


def _script(context: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Leave with a shell's script of completion."""
    if shell and not context.resilient_parsing:
        raise Leave(_shell_completion_script(shell))


def _copy_examples(context: click.Context, _: click.Parameter, folder: str | None) -> None:
    """Copy what is shipped to try the package on, and leave."""
    if not folder or context.resilient_parsing:
        return
    shipped = Path(examples.__file__).parent
    try:
        shutil.copytree(shipped, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    except OSError as error:
        why = "it is there already" if os.path.lexists(folder) else error.strerror
        raise click.UsageError(f"no files can be copied to {folder!r}: {why}") from None
    raise Leave(
        f"copied to {folder}; try: cd {shlex.quote(folder)} && {PROGRAM} reduce judgments.csv"
    )


def _install(context: click.Context, _: click.Parameter, shell: str | None) -> None:
    """Put a shell's script of completion where it is read, and leave."""
    if not shell or context.resilient_parsing:
        return
    home, read = Path.home(), ""
    folder = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    script = folder / ("fish/completions" if shell == "fish" else PROGRAM) / f"{PROGRAM}.{shell}"
    try:
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(_shell_completion_script(shell), encoding="utf-8")
        if shell != "fish":  # which reads its folder
            start = Path((shell == "zsh" and os.environ.get("ZDOTDIR")) or home) / f".{shell}rc"
            # zsh knows no completion before compinit; a line that is there is not added again.
            begin = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }; "
            line = f"{begin * (shell == 'zsh')}source {shlex.quote(str(script))}\n"
            known = start.read_text(encoding="utf-8") if start.exists() else ""
            if line not in known:
                with start.open("a", encoding="utf-8") as file:
                    file.write("\n" * bool(known and not known.endswith("\n")) + line)
            read = f", read by {start}"
    except OSError as error:
        raise click.UsageError(f"cannot write {error.filename}: {error.strerror}") from None
    raise Leave(f"completion for {shell} is in {script}{read}; it works in new shells")


def _shell_completion_script(shell: str) -> str:
    """The script of completion of a shell."""
    made = get_completion_class(shell)
    assert made is not None
    return made(click.Group(PROGRAM), {}, PROGRAM, COMPLETION).source()


def _eager(names: Sequence[str], callback: Callable[..., None], help: str, **more: Any) -> Any:
    """An option that is handled before all others."""
    if not more:
        more = {"is_flag": True}
    return click.Option(
        [*names], is_eager=True, expose_value=False, callback=callback, help=help, **more
    )


class _Command(click.Command):
    """One verb, made of its options."""

    def __init__(self, verb: Verb) -> None:
        self.verb = verb
        places = [one for one in fields(verb.options) if not one.kw_only]  # type: ignore[arg-type]
        bare = verb.source.strip("[]")
        self.takes_several = verb.source == "PATH" and not places
        params: list[click.Parameter] = [
            _command_argument("read", bare, required=bare == verb.source, many=self.takes_several)
        ]
        params += [
            _command_argument(one.name, flag_of(one).metavar or "", required=one.default is MISSING)
            for one in places
        ]
        params += [_command_flag_of_option(one) for one in _command_flags_of_verb(verb)]
        for name, one in PRINTING[verb.prints].items():
            chief = f": the table {verb.file}" if name == "out" and verb.file else ""
            params.append(_command_printing_flag(name, replace(one, help=one.help + chief)))
        params.append(_eager(["-h", "--help"], _leave_with_command_help, "show this and leave"))
        arguments = [f"{flag_of(one).metavar}: {flag_of(one).help}." for one in places]
        text = "\n\n".join([f"{verb.help[0].upper()}{verb.help[1:]}.", *arguments])
        super().__init__(verb.name, callback=self._typed, params=params, help=text,
                         add_help_option=False, options_metavar="[OPTIONS]")  # fmt: skip

    def _typed(self, **values: Any) -> CommandLine:
        """What was typed."""
        entered = {
            name: one
            for name, one in values.items()
            if not (one is None or one is False or one == ())
        }
        source, *more = entered.pop("read") if self.takes_several else [entered.pop("read", "")]
        printing = {
            name: entered.pop(name) for name in PRINTING[self.verb.prints] if name in entered
        }
        return CommandLine(
            verb=self.verb, source=source, texts=entered, printing=printing, more=tuple(more)
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse a flag in place of another's value, which Click would take for it."""
        valued = {
            name
            for one in self.params
            if isinstance(one, click.Option) and not one.is_flag
            for name in one.opts
        }
        words = iter(args)
        for word in words:
            if word == "--":
                break
            value = next(words, None) if word in valued else None
            if value and value.startswith("-") and value != "-" and not _NUMBER.match(value):
                ctx.fail(f"{word} needs a value, got {value}; {word}={value} if that is it")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = ctx  # which Click leaves out where a value is missing
            raise

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As other commands write it."""
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix="usage: ")

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Commands that run, whole, so that they can be copied."""
        formatter.write(f"\nExamples (their files: {PROGRAM} --examples FOLDER)\n")
        for line in self.verb.examples:
            formatter.write(f"  {PROGRAM} {line}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A verb's own flags, then those of many verbs under headings of their own."""
        rows: dict[str, list[tuple[str, str]]] = {"Options": [], _READING: [], _WRITING: []}
        for one in self.params:
            record = one.get_help_record(ctx)
            if isinstance(one, click.Option) and record is not None:
                heading = _WRITING if one.name in PRINTING[self.verb.prints] else "Options"
                rows[
                    _READING if _is_shared_command_flag(self.verb, str(one.name)) else heading
                ].append(record)
        for heading, records in rows.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _command_argument(
    name: str, metavar: str, *, required: bool = True, many: bool = False
) -> click.Argument:
    """What is read, or another positional argument."""
    many = many or metavar.endswith("...")
    return click.Argument(
        [name], metavar=metavar if required else f"[{metavar}]", required=required, type=_Text(),
        nargs=-1 if many else 1,
    )  # fmt: skip


def _command_flag_of_option(one: Field[Any]) -> click.Option:
    """The flag of an option."""
    described, kind = flag_of(one), annotation(one)
    names = [spelled(one), one.name]
    if kind == "bool":
        return click.Option(names, is_flag=True, help=described.help)
    number = {"int": int, "float": float}.get(kind.partition(" ")[0]) if "str" not in kind else None
    reads: click.ParamType[Any] = _Text()
    if described.choices:
        reads = _Choice(described.choices)
    elif number is not None:
        reads = _Number(number)
    entered = default_shown(one)
    shown = ",".join(entered) if isinstance(entered, tuple) else entered
    default = "" if shown is None else f" (default {shown})"
    return click.Option(
        names,
        metavar=None if described.choices else described.metavar or one.name.upper(),
        help=described.help + default,
        type=reads,
        multiple=described.repeats,
        required=one.default is MISSING,
    )


def _command_printing_flag(name: str, described: OptionFlag) -> click.Option:
    """A flag of printing."""
    if name in SWITCHES:
        spelled_name = name.replace("_", "-")
        return click.Option([f"--{spelled_name}", name], is_flag=True, help=described.help)
    return click.Option(
        [f"--{name}", name], metavar=described.metavar, help=described.help, type=_Text()
    )


class _Verbs(click.Group):
    """All verbs, each made when it is asked for."""

    def __init__(self, name: str) -> None:
        params = [
            _eager(["--version"], _version, "show the version and leave"),
            _eager(["--completion"], _script, "print the script that completes commands in a shell",
                   type=_Choice(SHELLS)),
            _eager(["--install-completion"], _install, "have commands completed in new shells",
                   type=_Choice(SHELLS)),
            _eager(["--examples"], _copy_examples, "copy files to try it on into a new folder",
                   type=_Text(), metavar="FOLDER"),
            _eager(["-h", "--help"], _leave_with_command_help, "show this and leave"),
        ]  # fmt: skip
        super().__init__(name, params=params, help="How far can an LLM judge be trusted?",
                         add_help_option=False, no_args_is_help=False,
                         subcommand_metavar="VERB ...", options_metavar="[OPTIONS]")  # fmt: skip

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names of verbs."""
        return list(all_verbs())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Make the command of a verb."""
        verb = find_verb(cmd_name)
        return None if verb is None else _Command(verb)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say what to try first where nothing is asked."""
        if not args and not ctx.resilient_parsing:
            raise Leave(FIRST)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb, or say which is near."""
        typed = args[0].startswith("-") or find_verb(args[0]) is not None
        if not typed and not ctx.resilient_parsing:
            near = get_close_matches(args[0], all_verbs(), n=1)
            meant = f" (meant {near[0]}?)" if near else ""
            ctx.fail(f"no such verb: {args[0]!r}{meant}")
        return super().resolve_command(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """As other commands write it."""
        pieces = " ".join(self.collect_usage_pieces(ctx))
        formatter.write_usage(ctx.command_path, pieces, prefix="usage: ")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Verbs below the headings of their groups."""
        verbs = all_verbs()
        width = max(len(name) for name in verbs)
        for group in GROUPS:
            rows = [(name.ljust(width), one.help) for name, one in verbs.items()
                    if one.group == group]  # fmt: skip
            with formatter.section(group):
                formatter.write_dl(rows)


def commands() -> dict[str, click.Command]:
    """Every verb's command, for the documentation."""
    return {name: _Command(verb) for name, verb in all_verbs().items()}


def source_path(path: str) -> str:
    """A file or folder that must be there; URLs are left to who opens them.

    Examples
    --------
    >>> source_path("no-such.json")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file or folder [path=no-such.json]
    """
    if path == STANDARD_INPUT:
        return path
    if "://" in path or path_exists(path) or _is_typed_path_sheet(path):
        _check_stdout(path)
        if not os.path.isfile(path):
            check_regular(path)
        return path
    folder, name = os.path.split(path)
    try:
        # A link to nothing is there by its name, and is no help.
        there = (one for one in os.listdir(folder or ".") if one != name)
        near = get_close_matches(name, there, n=1)
    except (OSError, ValueError):
        near = []
    raise SweepError(
        "no such file or folder",
        where={"path": path},
        hint=os.path.join(folder, near[0]) if near else None,
    )


def judged_path(path: str) -> str:
    """A run directory, or a file, folder or pattern of files of judgments, which must be there.

    Examples
    --------
    >>> judged_path("no-such-run")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: no such file or folder [path=no-such-run]
    """
    if has_magic(path) and not path_exists(path) and "://" not in path:
        return path  # a pattern of files, which is said to be of none where it is opened
    if os.path.isdir(source_path(path)):
        from judgerel_ray.counting.files.source import holds_tables
        from judgerel_ray.store import RunDirectory  # coefficients of a file need none

        if not (holds_tables(path) and not RunDirectory(url=path).is_run()):
            RunDirectory.open(path)
    return path


def _is_typed_path_sheet(path: str) -> bool:
    """Whether a path names a sheet of a workbook that is there: ``book.xlsx#Sheet2``."""
    from judgerel_ray.counting.files.delimited import book_of  # a path alone needs no Polars

    book, sheet = book_of(path) if "#" in path else (path, "")
    return bool(sheet) and path_exists(book)


def path_exists(path: str) -> bool:
    """Whether something is there; nothing is at a path that no file system could have."""
    try:
        return os.path.exists(path)
    except ValueError:
        return False


def _check_stdout(path: str) -> None:
    """Refuse to print into the file that is read, as ``>> FILE`` would."""
    with suppress(OSError, ValueError):
        printed = os.fstat(STDOUT)
        if stat.S_ISREG(printed.st_mode) and os.path.samestat(printed, os.stat(path)):
            raise SweepError(
                "stdout is the file that is read", where={"path": path}, hint="give --out a file"
            )
