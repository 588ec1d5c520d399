-- Copies in the words of assistants are found whatever their case, quotation marks, emphasis and spacing: the index holds
-- the terms of domain.clauses.plain. The program fills it again, in this migration's transaction.
INSERT INTO context_words (context_words) VALUES ('delete-all');
