"""The command line `polars-prcurve`: commands, table files, and a demonstration."""
