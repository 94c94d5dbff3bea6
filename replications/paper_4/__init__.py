"""Paper 4: REO with random traffic."""
