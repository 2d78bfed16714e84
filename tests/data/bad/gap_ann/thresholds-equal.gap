p gap-ann 1 1 4 2 2
0000
1111
