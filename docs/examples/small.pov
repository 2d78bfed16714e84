c Is there a vector from each part so that no coordinate is one in all three? Yes: rows 0, 1, 0.
p p-ov 3 3 2 2 1
c part 1
110
111
c part 2
011
001
c part 3
111
