-- Roles that manage a task: from `managers` of its definition, when the task was made.
ALTER TABLE cairn.wf_tasks ADD COLUMN managers text[] NOT NULL DEFAULT '{}';
