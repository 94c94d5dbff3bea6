"""Application: the parts of one deployment, assembled and served over HTTP."""
