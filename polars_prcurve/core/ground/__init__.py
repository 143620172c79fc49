"""What every room stands on: the one exception, readers of arguments, exact sums, text of messages."""
