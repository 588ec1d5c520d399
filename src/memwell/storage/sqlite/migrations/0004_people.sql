-- Memories that tell names of people are few, and each question looks for all of its scope's.
CREATE INDEX current_aliases ON memories (scope) WHERE attribute = 'alias' AND state = 'current';
