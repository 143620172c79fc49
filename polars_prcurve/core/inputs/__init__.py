"""What users pass, read into one shape, in which columns are resolved and dtypes known."""
