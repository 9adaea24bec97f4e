"""The mutation tester: small mistakes, made mechanically, which every check must notice."""
