"""What the list of models shows of a file, and what its memory needs are worked out from. Pure but for one look at
which architectures the installed llama.cpp knows.

Names of the quantisations are those of llama.cpp (`enum llama_ftype`); keys of the metadata are those of ggml's
docs/gguf.md.
"""

import mmap
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from core.catalogue.gguf import KEPT, GgufInfo, read_gguf
from core.errors import ModelFileError
from core.model_files import ModelKind

_FILE_TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS",
    20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M",
    28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
    39: "NVFP4", 40: "Q1_0", 41: "Q2_0",
}  # fmt: skip
_IN_A_NAME = re.compile(
    r"(?:^|[-_.])((?:UD-)?(?:I?Q\d(?:_[0-9A-Z]+)*|TQ\d_\d|B?F16|F32|MXFP4))(?=$|[-_.])", re.IGNORECASE
)
_PARTS = re.compile(r"^(?P<stem>.+)-(?P<part>\d{5})-of-(?P<parts>\d{5})$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """A model file in the terms of the list; sizes that the file does not tell are 0."""

    path: Path
    name: str
    kind: ModelKind
    architecture: str
    quantisation: str
    parameters: int
    context_tokens: int
    layers: int
    heads: int
    kv_heads: int
    key_size: int  # values a head and token
    value_size: int
    embedding_size: int
    feed_forward_size: int
    vocabulary: int
    weight_bytes: int  # of all parts
    parts: int
    licence: str
    has_template: bool


def read_facts(path: Path) -> ModelFacts:
    """Read a model file's header, and those of its other parts; raise `ModelFileError` if it is no usable model."""
    parts = find_parts(path)
    try:
        stamp = tuple((stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for stat in (part.stat() for part in parts))
    except OSError:
        stamp = ()  # reading says in words why
    return _read_facts(path, parts, stamp)


@lru_cache(maxsize=256)
def _read_facts(path: Path, parts: tuple[Path, ...], _stamp: tuple[tuple[int, int, int], ...]) -> ModelFacts:
    """Read the headers once for each state of the files: vocabularies make that some 50 ms a model."""
    infos = [read_gguf(part) for part in parts]
    first = infos[0]
    _refuse_others(path, first)
    if not knows_architecture(first.architecture):
        raise ModelFileError(
            f"{path.name} is a model of the kind {first.architecture!r}, which this version of Keepsake does not know. "
            f"Look for a newer Keepsake, or choose another model. {KEPT}"
        )
    return describe(path, infos)


def find_parts(path: Path) -> tuple[Path, ...]:
    """Return the files of a model that is split (NAME-00001-of-00003.gguf), else the file alone.

    Raises `ModelFileError` if a part is missing.
    """
    match = _PARTS.match(path.stem)
    if match is None:
        return (path,)
    count = int(match["parts"])
    parts = tuple(path.with_name(f"{match['stem']}-{i:05}-of-{count:05}{path.suffix}") for i in range(1, count + 1))
    missing = [part.name for part in parts if not part.is_file()]
    if missing and path.is_file():
        raise ModelFileError(
            f"{match['stem']} is a model in {count} files, of which {len(missing)} are missing: {missing[0]}"
            f"{' and others' if len(missing) > 1 else ''}. Put them beside {path.name}. {KEPT}"
        )
    return parts or (path,)


def is_later_part(path: Path) -> bool:
    """Tell whether the file is the second or a later part of a model."""
    match = _PARTS.match(path.stem)
    return match is not None and int(match["part"]) > 1


def is_projector(path: Path, info: GgufInfo | None = None) -> bool:
    """Tell whether a file only lets another model see pictures (mmproj)."""
    if "mmproj" in path.name.lower():
        return True
    return info is not None and (info.architecture == "clip" or info.metadata.get("general.type") == "mmproj")


def describe(path: Path, infos: list[GgufInfo]) -> ModelFacts:
    """Return the facts of a model from the headers of its parts, the first one first."""
    first = infos[0]

    def number(key: str) -> int:
        value = first.metadata.get(f"{first.architecture}.{key}", 0)
        return int(value) if isinstance(value, int | float) and value > 0 else 0

    heads, width = number("attention.head_count"), number("embedding_length")
    size = number("attention.key_length") or (width // heads if heads else 0)
    match = _PARTS.match(path.stem)
    return ModelFacts(
        path=path,
        name=_choose_name(first, match["stem"] if match else path.stem),
        kind=_find_kind(first),
        architecture=first.architecture,
        quantisation=_find_quantisation(first, path),
        parameters=sum(info.parameters for info in infos),
        context_tokens=first.context_tokens or 0,
        layers=number("block_count"),
        heads=heads,
        kv_heads=number("attention.head_count_kv") or heads,
        key_size=size,
        value_size=number("attention.value_length") or size,
        embedding_size=width,
        feed_forward_size=number("feed_forward_length") or number("expert_feed_forward_length"),
        vocabulary=first.vocabulary,
        weight_bytes=sum(info.expected_bytes for info in infos),
        parts=len(infos),
        licence=_find_licence(first),
        has_template=first.chat_template is not None,
    )


def _choose_name(info: GgufInfo, stem: str) -> str:
    """The file's own name for itself, unless it says nothing to a reader (a path, one word, a hash)."""
    name = " ".join(info.name.split())
    size = info.metadata.get("general.size_label")
    if (
        len(name.encode()) < 4
        or "/" in name
        or "\\" in name
        or name.lower() in {"models", "model", "llama", "hf", "tmp"}
    ):
        return stem
    if isinstance(size, str) and size and not re.search(r"\d\s*[bm]\b", name, re.IGNORECASE):
        return f"{name} {size}"
    return name


def _find_kind(info: GgufInfo) -> ModelKind:
    pooling = info.metadata.get(f"{info.architecture}.pooling_type", 0)
    if "bert" in info.architecture or info.architecture.endswith(("encoder", "embedding")):
        return ModelKind.EMBEDDING
    return ModelKind.EMBEDDING if isinstance(pooling, int) and pooling > 0 else ModelKind.CHAT


def _find_quantisation(info: GgufInfo, path: Path) -> str:
    kind = info.metadata.get("general.file_type")
    if isinstance(kind, int) and kind % 1024 in _FILE_TYPES:  # 1024 marks a guess
        return _FILE_TYPES[kind % 1024]
    match = _IN_A_NAME.search(path.stem)
    return match[1].upper() if match else ""


def _find_licence(info: GgufInfo) -> str:
    for key in ("general.license", "general.license.name"):
        value = info.metadata.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def _refuse_others(path: Path, info: GgufInfo) -> None:
    if is_projector(path, info):
        raise ModelFileError(
            f"{path.name} only adds pictures to another model and cannot answer by itself. Choose the model's own "
            f"file. {KEPT}"
        )
    if info.metadata.get("general.type") in {"adapter", "imatrix"}:
        raise ModelFileError(f"{path.name} only changes another model (an adapter). Choose a whole model. {KEPT}")


def knows_architecture(name: str) -> bool:
    """Tell whether the installed llama.cpp can run a kind of model; True where that cannot be told.

    The names are texts in its library: looking there needs no list of ours that would grow old.
    """
    return bool(re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name)) and _is_in_library(name)


@cache
def _is_in_library(name: str) -> bool:
    library = _find_library()
    if library is None:
        return True
    try:
        with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            # linkers join texts of which one ends the other, so only the end of the name is marked
            return data.find(name.encode("ascii") + b"\0") >= 0
    except (OSError, ValueError):
        return True


def _find_library() -> Path | None:
    spec = find_spec("llama_cpp")  # finds it without loading it
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "lib"
    names = ("libllama.so", "libllama.dylib", "llama.dll", "libllama.dll")
    return next((folder / name for name in names if (folder / name).is_file()), None)
