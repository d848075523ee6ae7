-- The history of an instance and the events of a task are only read for that instance and that task: one index is enough.
ALTER TABLE cairn.wf_execution_log DROP CONSTRAINT wf_execution_log_pkey;
DROP INDEX cairn.wf_execution_log_instance;
ALTER TABLE cairn.wf_execution_log ADD PRIMARY KEY (instance, n);
ALTER TABLE cairn.wf_task_events DROP CONSTRAINT wf_task_events_pkey;
DROP INDEX cairn.wf_task_events_task;
ALTER TABLE cairn.wf_task_events ADD PRIMARY KEY (task, n);
