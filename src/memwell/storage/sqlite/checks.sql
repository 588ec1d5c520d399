-- Each query names records that break a rule; none in a sound store.

-- broken: memory without a source
SELECT m.id FROM memories m
WHERE m.kind <> 'entity' AND m.state <> 'erased' AND NOT EXISTS (SELECT 1 FROM sources s WHERE s.memory = m.no)

-- broken: memory that cites evidence of another scope
SELECT m.id FROM sources s JOIN memories m ON m.no = s.memory JOIN evidence e ON e.no = s.evidence
WHERE e.scope <> m.scope

-- broken: memory that cites characters its evidence does not have
SELECT m.id FROM sources s JOIN memories m ON m.no = s.memory JOIN evidence e ON e.no = s.evidence
WHERE e.status <> 'erased' AND NOT (0 <= s.start_char AND s.start_char < s.end_char AND s.end_char <= length(e.content))

-- broken: memory linked with another scope
SELECT m.id FROM links l JOIN memories m ON m.no = l.memory JOIN memories o ON o.no = l.other
WHERE o.scope <> m.scope

-- broken: memory with a link that the other end lacks
SELECT m.id FROM links l JOIN memories m ON m.no = l.memory
WHERE l.relation <> 'derived_from' AND NOT EXISTS (
    SELECT 1 FROM links b
    WHERE b.memory = l.other AND b.other = l.memory AND b.relation = CASE l.relation
        WHEN 'supersedes' THEN 'superseded_by'
        WHEN 'superseded_by' THEN 'supersedes'
        WHEN 'corrects' THEN 'corrected_by'
        WHEN 'corrected_by' THEN 'corrects'
        ELSE l.relation
    END
)

-- broken: memory that supersedes itself through others
WITH RECURSIVE reached (start, no) AS (
    SELECT memory, other FROM links WHERE relation = 'supersedes'
    UNION
    SELECT r.start, l.other FROM reached r JOIN links l ON l.memory = r.no AND l.relation = 'supersedes'
)
SELECT m.id FROM reached r JOIN memories m ON m.no = r.start WHERE r.start = r.no

-- broken: memory whose transitions are not one per revision
SELECT m.id FROM memories m LEFT JOIN transitions t ON t.memory = m.no
GROUP BY m.no HAVING count(t.revision) <> m.revision OR min(t.revision) <> 1 OR max(t.revision) <> m.revision

-- broken: memory that differs from its last transition
SELECT m.id FROM memories m JOIN transitions t ON t.memory = m.no AND t.revision = m.revision
WHERE t.state <> m.state OR t.valid_until IS NOT m.valid_until OR t.muted_at IS NOT m.muted_at

-- broken: keyword index of memories lacks or adds a row
SELECT no FROM (SELECT no FROM memories WHERE state <> 'erased' EXCEPT SELECT id FROM memory_words_docsize)
UNION ALL
SELECT id FROM (SELECT id FROM memory_words_docsize EXCEPT SELECT no FROM memories WHERE state <> 'erased')

-- broken: keyword index of evidence lacks or adds a row
SELECT no FROM (
    SELECT no FROM evidence WHERE speaker IN ('user', 'observed', 'import') AND status <> 'erased'
    EXCEPT SELECT id FROM evidence_words_docsize
)
UNION ALL SELECT id FROM (
    SELECT id FROM evidence_words_docsize
    EXCEPT SELECT no FROM evidence WHERE speaker IN ('user', 'observed', 'import') AND status <> 'erased'
)

-- broken: index of the words of assistants lacks or adds a row
SELECT no FROM (
    SELECT no FROM evidence WHERE (speaker = 'assistant' OR preceding IS NOT NULL) AND status <> 'erased'
    EXCEPT SELECT id FROM context_words_docsize
)
UNION ALL SELECT id FROM (
    SELECT id FROM context_words_docsize
    EXCEPT SELECT no FROM evidence WHERE (speaker = 'assistant' OR preceding IS NOT NULL) AND status <> 'erased'
)

-- broken: vectors of the wrong length, of record
SELECT m.id FROM memory_vectors v JOIN models d ON d.no = v.model JOIN memories m ON m.no = v.record
WHERE length(v.data) <> length(v.spans) / 8 * 4 * d.dimensions
UNION ALL
SELECT e.id FROM evidence_vectors v JOIN models d ON d.no = v.model JOIN evidence e ON e.no = v.record
WHERE length(v.data) <> length(v.spans) / 8 * 4 * d.dimensions

-- broken: plan whose last ledger line is missing
SELECT p.id FROM plans p LEFT JOIN ledger l ON l.seq = p.seq WHERE l.plan_id IS NOT p.id

-- broken: gap in the ledger after line
SELECT l.seq FROM ledger l
WHERE l.seq < (SELECT max(seq) FROM ledger) AND NOT EXISTS (SELECT 1 FROM ledger n WHERE n.seq = l.seq + 1)

-- broken: erased memory that still has words
SELECT m.id FROM memories m
WHERE m.state = 'erased' AND (
    m.content <> '' OR m.reason <> '' OR m.attribute IS NOT NULL OR m.value IS NOT NULL OR m.qualifiers IS NOT NULL
    OR EXISTS (SELECT 1 FROM sources s WHERE s.memory = m.no)
    OR EXISTS (SELECT 1 FROM memory_vectors v WHERE v.record = m.no)
)

-- broken: erased evidence that still has words
SELECT e.id FROM evidence e
WHERE e.status = 'erased' AND (
    e.content <> '' OR e.preceding IS NOT NULL OR e.name IS NOT NULL OR e.metadata IS NOT NULL
    OR EXISTS (SELECT 1 FROM evidence_vectors v WHERE v.record = e.no)
    OR EXISTS (SELECT 1 FROM sources s WHERE s.evidence = e.no)
)

-- broken: erased record without a tombstone
SELECT id FROM memories WHERE state = 'erased' AND id NOT IN (SELECT record_id FROM tombstones)
UNION ALL
SELECT id FROM evidence WHERE status = 'erased' AND id NOT IN (SELECT record_id FROM tombstones)
