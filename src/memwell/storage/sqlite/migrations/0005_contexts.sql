-- What assistants said, by the terms of domain.text.verbatim_terms: copies of erased words are found by it, so that
-- looking for them does not read every reply. Stores that exist are indexed by the program, in this migration's
-- transaction. Terms carry a mark of their scope, as in the other keyword indexes.
CREATE VIRTUAL TABLE context_words USING fts5 (words, content = '', detail = none, tokenize = 'porter unicode61');
