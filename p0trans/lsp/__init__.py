"""The editor's view of a program: a language server and what it answers."""
