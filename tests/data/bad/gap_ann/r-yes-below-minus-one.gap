p gap-ann 1 1 4 -2 1
0000
1111
