"""What surrounds a job: its log, devices, memory, files, errors, progress. Any room may import it; it imports none."""
