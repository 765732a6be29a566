"""Reads a store with other engines and prints what each finds in every column, as JSON.

usage: engines.py STORE
"""

import glob
import json
import math
import os
import struct
import sys

import duckdb
import polars
import pyarrow.parquet


def of_duckdb(files):
    rows = duckdb.connect().execute("select * from read_parquet(?)", [files])
    names = [column[0] for column in rows.description]
    columns = list(zip(*rows.fetchall())) or [()] * len(names)
    return dict(zip(names, columns))


def of_polars(files):
    table = polars.read_parquet(files)
    return {name: table[name].to_list() for name in table.columns}


def of_pyarrow(files):
    tables = [pyarrow.parquet.read_table(file) for file in files]
    names = tables[0].column_names
    return {name: [cell for table in tables for cell in table[name].to_pylist()] for name in names}


def size(cell):
    """A number that depends on the contents: the number itself, the bits of a float, the sum of the bytes of a text."""
    if isinstance(cell, list):
        return sum(map(size, cell))
    if isinstance(cell, str):
        cell = cell.encode()
    if isinstance(cell, bytes):
        return sum(cell)
    if isinstance(cell, float):
        return 1 if math.isnan(cell) else struct.unpack("<q", struct.pack("<d", cell))[0]
    return int(cell)


def sums(columns):
    known = {name: [cell for cell in cells if cell is not None] for name, cells in columns.items()}
    # Sums are larger than what JSON is safe for.
    return {name: [len(cells), str(sum(map(size, cells)))] for name, cells in known.items()}


def main():
    store = sys.argv[1]
    engines = {"duckdb": of_duckdb, "polars": of_polars, "pyarrow": of_pyarrow}
    tables = sorted(name for name in os.listdir(store) if os.path.isdir(os.path.join(store, name)))
    found = {name: {} for name in engines}
    for table in tables:
        files = sorted(glob.glob(os.path.join(glob.escape(store), table, "*.parquet")))
        for name, read in engines.items():
            found[name][table] = sums(read(files))
    json.dump(found, sys.stdout)


main()
