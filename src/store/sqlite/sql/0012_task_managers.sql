-- Roles that manage a task: from `managers` of its definition, when the task was made.
ALTER TABLE wf_tasks ADD COLUMN managers TEXT NOT NULL DEFAULT '[]';
