"""Studies that auditors register."""
