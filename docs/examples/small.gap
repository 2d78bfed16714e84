c Query 0 has key 1 at distance 1: near. Query 1 has no key closer than 4: far.
c Query 2 has its nearest key at distance 2, outside the promise: either answer is right.
p gap-ann 3 2 6 1 4
c queries
000000
111111
011001
c keys
110000
000001
