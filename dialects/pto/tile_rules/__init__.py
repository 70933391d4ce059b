"""Rules of operations on tiles in upstream's words: elements, memories, layouts, valid shapes and scratch, by chip."""
