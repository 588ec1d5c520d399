-- Statements about jobs by name; see statements.sql.

-- Ready: due, or claimed by somebody who gave no sign of life; in a scope in which no other job is under way.
-- name: claimable
SELECT j.no FROM jobs j
WHERE ((j.state = 'waiting' AND j.due_at <= ?) OR (j.state = 'claimed' AND j.lease_until <= ?))
    AND NOT EXISTS (
        SELECT 1 FROM jobs o WHERE o.scope = j.scope AND o.no <> j.no AND o.state = 'claimed' AND o.lease_until > ?
    )
ORDER BY j.no LIMIT 1

-- name: next_due
SELECT min(due_at) FROM jobs WHERE state = 'waiting'

-- name: job_owners
SELECT DISTINCT owner FROM jobs WHERE state = 'claimed' AND owner IS NOT NULL

-- name: pending_evidence
SELECT DISTINCT e.no FROM jobs j, json_each(j.evidence) x JOIN evidence e ON e.id = x.value
WHERE j.scope = ? AND j.state <> 'done' AND NOT EXISTS (SELECT 1 FROM formed f WHERE f.evidence = e.no)
ORDER BY e.no DESC LIMIT ?

-- name: backlog
SELECT state, count(*), min(created_at) FROM jobs WHERE state <> 'done' GROUP BY state

-- name: forget_jobs
DELETE FROM jobs WHERE no IN (SELECT no FROM jobs WHERE state = 'done' AND created_at <= ? LIMIT ?)

-- name: spent
SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM calls WHERE scope = ? AND day = ?

-- name: call_totals
SELECT model, count(*), sum(outcome NOT IN ('answered', 'open')), sum(tokens_in), sum(tokens_out), sum(seconds)
FROM calls GROUP BY model ORDER BY model
