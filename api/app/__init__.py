"""The application: the parts of one deployment, put together and served over HTTP."""
