p gap-ann 1 1 4 1 3
0000
p gap-ann 1 1 4 1 3
1111
