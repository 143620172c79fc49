"""Polars waits without end if a sink fails to write: seen of 2.1, on one thread and on two.

    POLARS_MAX_THREADS=1 python tests/upstream/full_disk.py

Once this prints an error within seconds, with Parquet as well, `atomic_file.PatientFile` may go.
"""

import resource
import signal
import sys

import polars as pl

if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, 2**18))  # as if the disk were full
    a = pl.col("a")
    rows = pl.select(a=pl.int_range(1_500_000)).lazy().with_columns(b=a * 7919 % 1_000_003)
    query = rows.sort("b").with_columns(c=pl.col("b").shift(), d=a.cum_sum())
    query.sink_csv(sys.argv[1] if len(sys.argv) > 1 else "full_disk.csv", engine="streaming")
