"""What people see: words, verdicts, charts and documents."""
