p gap-ann 1 1 4
0000
1111
