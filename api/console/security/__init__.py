"""Sign-in, cookies and confirmations of the console."""
