-- Statements by name. A name stands alone in a line "-- name: ..."; what follows belongs to it.

-- name: formed
SELECT e.id FROM formed f JOIN evidence e ON e.no = f.evidence
WHERE e.id IN (SELECT value FROM json_each(?))

-- name: transitions
SELECT t.revision, t.state, t.valid_until, t.muted_at, t.at, t.cause, t.plan_id
FROM transitions t JOIN memories m ON m.no = t.memory
WHERE m.id = ? ORDER BY t.revision

-- Everything linked with a memory by superseding or correcting, over any number of steps, itself included.
-- name: chain
WITH RECURSIVE linked (no) AS (
    SELECT no FROM memories WHERE id = ?
    UNION
    SELECT l.other FROM linked JOIN links l ON l.memory = linked.no
    WHERE l.relation IN ('supersedes', 'superseded_by', 'corrects', 'corrected_by')
)
SELECT no FROM linked

-- name: request
SELECT input_hash, outcome, plan_id FROM requests WHERE scope = ? AND id = ? AND expires_at > ?

-- name: words
SELECT e.id, v.words FROM evidence e JOIN evidence_vectors v ON v.record = e.no
WHERE v.words IS NOT NULL AND v.model = (SELECT no FROM models WHERE name = ?)
    AND e.id IN (SELECT value FROM json_each(?))

-- name: unindexed_memory
SELECT m.id FROM memories m
WHERE m.state <> 'erased' AND NOT EXISTS (
    SELECT 1 FROM memory_vectors v JOIN models ON models.no = v.model WHERE v.record = m.no AND models.name = ?
) AND (? = 'local' OR NOT EXISTS (
    SELECT 1 FROM sources s JOIN evidence e ON e.no = s.evidence WHERE s.memory = m.no AND NOT e.cloud
))
ORDER BY m.no LIMIT ?

-- name: unindexed_evidence
SELECT e.id FROM evidence e
WHERE e.status = 'active' AND e.speaker IN ('user', 'observed', 'import') AND NOT EXISTS (
    SELECT 1 FROM evidence_vectors v JOIN models ON models.no = v.model WHERE v.record = e.no AND models.name = ?
) AND (? = 'local' OR e.cloud)
ORDER BY e.no LIMIT ?

-- name: scopes
SELECT user_id, app_id, agent_id FROM scopes s
WHERE changes > 0
    OR EXISTS (SELECT 1 FROM receipts r WHERE r.scope = s.no)
    OR EXISTS (SELECT 1 FROM tombstones t WHERE t.scope = s.no)
ORDER BY app_id, user_id, agent_id

-- name: count_scopes
SELECT count(*) FROM scopes WHERE changes > 0

-- name: count_evidence
SELECT count(*) FROM evidence

-- name: unformed
SELECT e.id FROM evidence e
WHERE e.status = 'active' AND e.infer AND e.speaker IN ('user', 'observed', 'import')
    AND NOT EXISTS (SELECT 1 FROM formed f WHERE f.evidence = e.no)
ORDER BY e.no LIMIT ?

-- name: count_unformed
SELECT count(*) FROM evidence e
WHERE e.status = 'active' AND e.infer AND e.speaker IN ('user', 'observed', 'import')
    AND NOT EXISTS (SELECT 1 FROM formed f WHERE f.evidence = e.no)

-- name: count_indexable
SELECT (SELECT count(*) FROM memories WHERE state <> 'erased')
    + (SELECT count(*) FROM evidence WHERE status = 'active' AND speaker IN ('user', 'observed', 'import'))

-- name: count_staying
SELECT (
    SELECT count(DISTINCT m.no) FROM evidence e JOIN sources s ON s.evidence = e.no JOIN memories m ON m.no = s.memory
    WHERE NOT e.cloud AND m.state <> 'erased'
) + (SELECT count(*) FROM evidence WHERE NOT cloud AND status = 'active' AND speaker IN ('user', 'observed', 'import'))

-- name: count_memories
SELECT count(*) FROM memories

-- name: count_by_state
SELECT state, count(*) FROM memories GROUP BY state

-- name: count_ledger
SELECT count(*) FROM ledger

-- name: page_count
PRAGMA page_count

-- name: page_size
PRAGMA page_size

-- name: schema
PRAGMA user_version

-- name: model_figures
SELECT name, dimensions,
    (SELECT count(*) FROM memory_vectors v WHERE v.model = models.no),
    (SELECT count(*) FROM evidence_vectors v WHERE v.model = models.no)
FROM models ORDER BY name

-- name: forget_requests
DELETE FROM requests WHERE (scope, id) IN (SELECT scope, id FROM requests WHERE expires_at <= ? LIMIT ?)

-- name: tombstone_of_source
SELECT 1 FROM tombstones WHERE scope = ?1 AND hash_key = ?2 AND (origin_hash = ?3 OR replay_hash = ?4)

-- name: tombstones
SELECT t.record_id, t.unit, t.at, t.spans, t.origin_hash, t.replay_hash, k.key
FROM tombstones t LEFT JOIN hash_keys k ON k.no = t.hash_key

-- name: erase_transitions
UPDATE transitions SET state = 'erased', valid_until = NULL, muted_at = NULL WHERE memory = ?

-- Answers that name erased records, and unfinished requests, whose input may have been erased.
-- name: erase_requests
DELETE FROM requests WHERE scope = ? AND (
    outcome IS NULL
    OR EXISTS (SELECT 1 FROM json_tree(outcome) t WHERE t.atom IN (SELECT value FROM json_each(?)))
)

-- Erased words may stand in the write-ahead log and in older segments of the keyword indexes until they are cleaned.
-- name: note_cleanup
INSERT INTO meta VALUES ('cleanup', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1

-- name: cleanup_due
SELECT coalesce((SELECT value FROM meta WHERE name = 'cleanup'), 0)

-- name: cleanup_done
DELETE FROM meta WHERE name = 'cleanup' AND value = ?

-- name: dependents
SELECT DISTINCT e.id FROM dependencies d JOIN evidence e ON e.no = d.evidence
WHERE +e.scope = ? AND d.on_id IN (SELECT value FROM json_each(?))

-- name: dependencies
SELECT e.id, d.on_id FROM dependencies d JOIN evidence e ON e.no = d.evidence
WHERE e.scope = ? ORDER BY d.evidence, d.position

-- name: add_dependency
INSERT INTO dependencies SELECT ?1, coalesce(max(position) + 1, 0), ?2 FROM dependencies WHERE evidence = ?1

-- name: forming
SELECT e.id FROM evidence e
WHERE e.scope = ? AND e.recorded_at >= ? AND e.status = 'active' AND e.infer
    AND e.speaker IN ('user', 'observed', 'import') AND NOT EXISTS (SELECT 1 FROM formed f WHERE f.evidence = e.no)
    AND NOT EXISTS (
        SELECT 1 FROM jobs j, json_each(j.evidence) x
        WHERE j.scope = e.scope AND j.state <> 'done' AND j.state <> 'claimed' AND x.value = e.id
    )
ORDER BY e.no

-- name: formed_of_scope
SELECT e.id FROM formed f JOIN evidence e ON e.no = f.evidence WHERE e.scope = ?

-- name: receipt
SELECT r.body, r.input_hash, k.key FROM receipts r JOIN hash_keys k ON k.no = r.hash_key
WHERE r.scope = ? AND r.command_id = ?

-- name: receipts
SELECT r.body, r.input_hash, k.key FROM receipts r JOIN hash_keys k ON k.no = r.hash_key
WHERE r.scope = ? ORDER BY r.command_id

-- name: citing_ids
SELECT e.id, m.id FROM evidence e JOIN sources s ON s.evidence = e.no JOIN memories m ON m.no = s.memory
WHERE e.id IN (SELECT value FROM json_each(?))
