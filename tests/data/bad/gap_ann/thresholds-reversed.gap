p gap-ann 1 1 4 3 1
0000
1111
