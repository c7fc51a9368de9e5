"""NumPy's files, .npy and .npz: headers read by numpy, data read in blocks and counted, never an object unpickled.

Format: numpy.lib.format, "Format Version". What is held in memory is one block, whatever the header says.
"""

import math
import os
import zipfile
import zlib
from typing import IO, Final

from numpy.lib import format as npy

from gates.checkpoints.verdict import Broken, NotLoadable, OpenFile, Read

BLOCK_BYTES: Final = 2**20
MAX_EXPANSION: Final = 100
FREE_EXPANSION_BYTES: Final = 2**30
"""An archive may expand to 100 times its size and 1 GiB more; deflate reaches 1,032 times, on nothing but zeros."""
_VERSIONS: Final = ((1, 0), (2, 0), (3, 0))
MAX_MEMBERS: Final = 100_000
_ZIP_ERRORS: Final = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
"""What zipfile raises for an archive that is damaged, encrypted or compressed in a way that it doesn't know."""


def load_npy(file: OpenFile, read: Read) -> None:
    """Reads one array to its end. Raises Broken; NotLoadable for an array of Python objects."""
    with _opened(file) as source:
        _read_array(source, file.size, "", read)


def load_npz(file: OpenFile, read: Read) -> None:
    """Reads every array of an archive to its end, checksums included. Raises Broken, NotLoadable."""
    with _opened(file) as source:
        try:
            with zipfile.ZipFile(source) as archive:
                _read_archive(archive, file.size, read)
        except _ZIP_ERRORS as error:
            raise Broken(
                f"it is no whole .npz archive ({type(error).__name__}); a pickle or a file that was cut off is none"
            ) from None


def _read_archive(archive: zipfile.ZipFile, size: int, read: Read) -> None:
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise NotLoadable(f"holds {len(members):,} arrays; at most {MAX_MEMBERS:,} are loaded here")
    expanded = sum(member.file_size for member in members)
    if expanded > size * MAX_EXPANSION + FREE_EXPANSION_BYTES:
        raise NotLoadable(
            f"has {size:,} bytes that expand to {expanded:,}, more than {MAX_EXPANSION} times as many; it is not "
            "unpacked here"
        )
    if len({member.filename for member in members}) != len(members):
        raise Broken("it holds two arrays of one name")
    for member in members:
        shown = repr(member.filename[:80])
        if not member.filename.endswith(".npy"):
            raise Broken(f"its member {shown} is no array; a .npz archive holds .npy files alone")
        with archive.open(member) as source:
            _read_array(source, member.file_size, f"its array {shown}: ", read)


def _read_array(source: IO[bytes], size: int, where: str, read: Read) -> None:
    """One array of `size` bytes, header included."""
    try:
        version = npy.read_magic(source)
        if version not in _VERSIONS:
            raise Broken(
                f"{where}its format has the version {version[0]}.{version[1]}, which NumPy doesn't know"
            )
        # Version 3.0 differs from 2.0 by how names of fields are encoded, which says nothing about sizes.
        read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read_header(source)
    except (ValueError, TypeError, SyntaxError, OverflowError, RecursionError) as error:
        raise Broken(f"{where}its header is none of a NumPy array ({type(error).__name__})") from None
    if dtype.hasobject:
        raise NotLoadable("holds Python objects, which only unpickling could read")
    if any(length < 0 for length in shape):
        raise Broken(f"{where}its shape has a negative length")
    wanted = math.prod(shape) * dtype.itemsize
    found = 0
    while block := source.read(BLOCK_BYTES):
        found += len(block)
        read(len(block))
        if found > size:
            break
    if found != wanted:
        raise Broken(f"{where}it takes {wanted:,} bytes by type and shape, and {found:,} are there")


def _opened(file: OpenFile) -> IO[bytes]:
    """Read from its start on; the descriptor stays open."""
    os.lseek(file.fd, 0, os.SEEK_SET)
    return open(file.fd, "rb", closefd=False)
