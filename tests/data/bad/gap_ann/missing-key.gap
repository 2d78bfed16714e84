p gap-ann 1 2 4 1 3
0000
1111
