"""The rules of the house, one module a subject. Each rule is a function `Tree -> list of violations (strings)`."""
