-- What operators are told about: how many there are must not need a look at every instance.
CREATE INDEX wf_instances_troubled ON cairn.wf_instances (status) WHERE status IN ('suspended', 'failed');
