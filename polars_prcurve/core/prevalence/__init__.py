"""The prevalence, eta: read from arguments, joined with groups, moved to another one, estimated."""
