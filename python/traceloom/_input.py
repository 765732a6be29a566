"""What a trace is opened from."""

import os
from typing import IO

Input = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
