"""`python -m polars_prcurve` is the command line."""

import sys

from polars_prcurve.doors.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
