"""Kind of audit `share-above`: the share of each group whose score is above a threshold."""
