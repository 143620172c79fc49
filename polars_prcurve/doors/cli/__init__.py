"""The command line `polars-prcurve`: the methods of `.prc` on tables in files."""
