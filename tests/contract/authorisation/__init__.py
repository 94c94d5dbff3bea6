"""The authorisation matrix: who may call which operation, about whose objects."""
