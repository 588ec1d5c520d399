-- Codes of the telling words of a turn, end to end, by the model of its vectors; NULL where that model makes none, or made
-- the vectors before it made words. In the row of the vectors, so that nothing is read, replaced or erased without them.
ALTER TABLE evidence_vectors ADD COLUMN words BLOB;
