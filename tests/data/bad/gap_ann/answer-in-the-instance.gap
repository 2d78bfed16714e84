p gap-ann 1 1 4 1 3
0000
1111
s ROWS 1
far
