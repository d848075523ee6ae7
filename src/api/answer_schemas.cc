#include "api/answer_schemas.h"

#include <algorithm>
#include <string>

namespace cairn::api {
namespace {

constexpr std::string_view diagram_types = "image/svg+xml,image/png,text/plain,application/json";

constexpr AnswerSchema answers[] = {
    {"deployDefinition", "201", "Deployed"},
    {"deployDefinition", "200", "Deployed", json_type, "with ?dry_run: nothing is deployed"},
    {"listDefinitions", "200", "DefinitionPage"},
    {"getDefinition", "200", "Definition"},
    {"retireDefinition", "204", "", ""},
    {"getCanonical", "200", "Canonical"},
    {"getDefinitionSource", "200", "", "text/plain"},
    {"getDefinitionDiagram", "200", "", diagram_types},
    {"getDefinitionDiagram", "304", "", "", "the client has this diagram: If-None-Match"},
    {"getNewestDiagram", "200", "", diagram_types},
    {"getNewestDiagram", "304", "", "", "the client has this diagram: If-None-Match"},
    {"getInstanceDiagram", "200", "", diagram_types},
    {"getInstanceDiagram", "304", "", "", "the client has this diagram: If-None-Match"},
    {"startInstance", "201", "InstanceAnswer"},
    {"startInstance", "200", "InstanceAnswer", json_type, "the repeat of an earlier start"},
    {"listInstances", "200", "InstancePage"},
    {"getInstance", "200", "Instance"},
    {"getHistory", "200", "HistoryEntryPage"},
    {"getSnapshot", "200", "Snapshot"},
    {"explainInstance", "200", "Explanation"},
    {"listErrors", "200", "ErrorGroups"},
    {"signalInstance", "200", "InstanceAnswer"},
    {"listSignals", "200", "SignalPage"},
    {"discardKeptSignal", "204", "", ""},
    {"discardSignal", "200", "InstanceAnswer"},
    {"cancelInstance", "200", "InstanceAnswer"},
    {"suspendInstance", "200", "InstanceAnswer"},
    {"resumeInstance", "200", "InstanceAnswer"},
    {"retryInstance", "200", "InstanceAnswer"},
    {"skipStep", "200", "InstanceAnswer"},
    {"editState", "200", "InstanceAnswer"},
    {"deleteInstance", "204", "", ""},
    {"sendSignal", "202", "SignalOutcome"},
    {"receiveEvents", "202", "SignalOutcomes"},
    {"receiveHook", "202", "SignalOutcomes"},
    {"listTasks", "200", "TaskPage"},
    {"getTask", "200", "Task"},
    {"getTaskEvents", "200", "TaskEventPage"},
    {"assignTask", "200", "Task"},
    {"releaseTask", "200", "Task"},
    {"reassignTask", "200", "Task"},
    {"commentTask", "200", "Task"},
    {"completeTask", "200", "InstanceAnswer"},
    {"getDraft", "200", "Draft"},
    {"putDraft", "200", "Draft"},
    {"deleteDraft", "204", "", ""},
    {"listViews", "200", "ViewPage"},
    {"putView", "200", "View"},
    {"deleteView", "204", "", ""},
    {"listAlerts", "200", "AlertPage"},
    {"putAlert", "200", "Alert"},
    {"deleteAlert", "204", "", ""},
    {"createTaskLink", "201", "TaskLink"},
    {"showAnswerPage", "200", "LinkedQuestion"},
    {"giveAnswer", "200", "AnswerState"},
    {"createEmbedToken", "201", "EmbedToken"},
    {"submitRun", "201", "Run"},
    {"submitRun", "200", "Run", json_type, "the repeat of an earlier submission"},
    {"submitRuns", "200", "SubmittedRuns"},
    {"listRuns", "200", "RunPage"},
    {"getRun", "200", "Run"},
    {"getRunEvents", "200", "RunEventPage"},
    {"cancelRun", "200", "Run"},
    {"deleteRun", "200", "Run"},
    {"releaseRun", "200", "Run"},
    {"leaseRuns", "200", "LeasedRuns"},
    {"heartbeatRun", "200", "Heartbeat"},
    {"completeRun", "200", "RunOutcome"},
    {"failRun", "200", "RunOutcome"},
    {"reportRuns", "200", "RunOutcomes"},
    {"heartbeatRuns", "200", "RunOutcomes"},
    {"releaseRuns", "200", "RunOutcomes"},
    {"listRunTypes", "200", "RunTypePage"},
    {"getRunType", "200", "RunType"},
    {"putRunType", "200", "RunType"},
    {"deleteRunType", "204", "", ""},
    {"createSchedule", "201", "Schedule"},
    {"listSchedules", "200", "SchedulePage"},
    {"getSchedule", "200", "Schedule"},
    {"changeSchedule", "200", "Schedule"},
    {"pauseSchedule", "200", "Schedule"},
    {"resumeSchedule", "200", "Schedule"},
    {"triggerSchedule", "202", "Schedule"},
    {"deleteSchedule", "204", "", ""},
    {"previewSchedule", "200", "FiringTimes"},
    {"listDeadLetters", "200", "DeadLetterPage"},
    {"getDeadLetter", "200", "DeadLetter"},
    {"replayDeadLetter", "202", "Replayed"},
    {"discardDeadLetter", "204", "", ""},
    {"listOutbox", "200", "OutboxEventPage"},
    {"listDeliveries", "200", "DeliveryPage"},
    {"resendEvent", "202", "Resent"},
    {"streamEvents", "200", "", "text/event-stream"},
    {"startBulk", "202", "BulkStarted"},
    {"startBulk", "200", "BulkStarted", json_type, "with dry_run: nothing is changed"},
    {"startBulk", "201", "BulkStarted", json_type, "with preview: the selection is frozen"},
    {"getBulk", "200", "BulkProgress"},
    {"listBulk", "200", "BulkProgressPage"},
    {"listBulkItems", "200", "BulkItemPage"},
    {"beginBulk", "200", "BulkProgress"},
    {"pauseBulk", "200", "BulkProgress"},
    {"resumeBulk", "200", "BulkProgress"},
    {"cancelBulk", "200", "BulkProgress"},
    {"listAudit", "200", "AuditRowPage"},
    {"verifyAudit", "200", "AuditReport"},
    {"verifyStore", "200", "Verification"},
    {"doctor", "200", "HealthReport"},
    {"runRetention", "200", "RetentionReport"},
    {"listKeys", "200", "KeyPage"},
    {"createKey", "201", "NewKey"},
    {"revokeKey", "204", "", ""},
    {"getSession", "200", "Session"},
    {"createSession", "201", "Session"},
    {"endSession", "204", "", ""},
    {"beginLogin", "303", "", ""},
    {"finishLogin", "201", "Session"},
    {"getInfo", "200", "Info"},
    {"listFunctions", "200", "FunctionList"},
    {"getProblem", "200", "ProblemText"},
    {"openapi", "200", "Document"},
    {"healthz", "200", "", "text/plain"},
    {"livez", "200", "", "text/plain"},
    {"readyz", "200", "", "text/plain"},
    {"metrics", "200", "", "text/plain"},
};

constexpr std::string_view components = R"({
"Problem":{"type":"object","required":["type","title","status"],"properties":{
  "type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},
  "limit":{"type":"string"},"limit_value":{"type":"integer"},
  "matched_at_least":{"type":"integer","description":"bulk_instances: so many instances match"},
  "status_now":{"type":"string","description":"lease_lost: the status of the run"},
  "errors":{"type":"array","items":{"type":"object","properties":{
    "pointer":{"type":"string","description":"JSON pointer into the request"},"detail":{"type":"string"},
    "line":{"type":"integer"},"column":{"type":"integer"},"severity":{"type":"string"}}}}}},
"ProblemText":{"type":"object","required":["type","status","description","advice"],"properties":{
  "type":{"type":"string"},"status":{"type":"integer"},"description":{"type":"string"},"advice":{"type":"string"}}},
"Document":{"type":"object","required":["openapi","info","paths"]},
"Canonical":{"type":"object","required":["cairn","name","version","steps"],"description":"docs/canonical.md describes it"},
"Snapshot":{"type":"object","required":["id","definition","version","digest","status","state_version","state","waits","strands","signals"],
  "properties":{"id":{"type":"string"},"definition":{"type":"string"},"version":{"type":"string"},"digest":{"type":"string"},
  "status":{"$ref":"#/components/schemas/Status"},"state_version":{"type":"integer"},
  "format":{"type":"integer","description":"of the stored snapshot"},"input":true,"state":{"type":"object"},"output":true,
  "reference":{"$ref":"#/components/schemas/Reference"},"error":{"$ref":"#/components/schemas/Failure"},
  "waits":{"type":"array","items":{"$ref":"#/components/schemas/Wait"}},
  "strands":{"type":"array","items":{"type":"object","required":["id","parent","at","waits"],"properties":{
    "id":{"type":"integer"},"parent":{"type":"integer","description":"0: this is the main strand"},"at":{"type":"string"},
    "waits":{"type":"array","items":{"type":"string"}}}}},
  "signals":{"type":"array","items":{"$ref":"#/components/schemas/Signal"}},
  "compensations":{"type":"integer","description":"registered undos"},"last_event":{"type":"string"}}},
"Explanation":{"type":"object","required":["id","status","reasons"],"properties":{
  "id":{"type":"string"},"status":{"$ref":"#/components/schemas/Status"},
  "reasons":{"type":"array","items":{"type":"object","required":["kind","reason"],"properties":{
    "kind":{"type":"string"},"reason":{"type":"string"},"step":{"type":"string"},"command":{"type":"string"},
    "since":{"type":"string"}}}}}},
"SignalOutcome":{"type":"object","required":["instances","kept","repeated"],"properties":{
  "instances":{"type":"array","items":{"type":"string"}},"kept":{"type":"boolean"},"repeated":{"type":"boolean"},
  "id":{"type":"string"},"source":{"type":"string"}}},
"SignalOutcomes":{"type":"object","required":["items"],"properties":{
  "items":{"type":"array","items":{"$ref":"#/components/schemas/SignalOutcome"}}}},
"TaskEvent":{"type":"object","required":["task","event","at","actor"],"properties":{
  "task":{"type":"string"},"event":{"enum":["created","assigned","released","reassigned","completed","cancelled","expired","commented"]},
  "at":{"type":"string"},"actor":{"type":"string"},"details":true}},
"RunEvent":{"type":"object","required":["run","event","at","attempt","actor"],"properties":{
  "run":{"type":"string"},"event":{"type":"string"},"at":{"type":"string"},"attempt":{"type":"integer"},
  "actor":{"type":"string"},"account":{"type":"string"},"worker":{"type":"string"},"details":true}},
"SubmittedRuns":{"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"type":"object",
  "properties":{"id":{"type":"string"},"status":{"type":"string"},"created":{"type":"boolean"},
  "error":{"type":"string"}}}}}},
"LeasedRuns":{"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"$ref":"#/components/schemas/Run"}}}},
"Heartbeat":{"type":"object","required":["id","status","cancelled"],"properties":{
  "id":{"type":"string"},"status":{"type":"string"},"cancelled":{"type":"boolean"},"lease_until":{"type":"string"},
  "lease_ms":{"type":"integer"}}},
"RunOutcome":{"type":"object","required":["id","outcome"],"properties":{"id":{"type":"string"},
  "outcome":{"enum":["finished","will_retry","lease_lost","kept","released","cancelled","error"]},
  "lease_ms":{"type":"integer"},"error":{"type":"string"},
  "retryable":{"type":"boolean","description":"of `error`: whether the same report may be taken later"}}},
"RunOutcomes":{"type":"object","required":["items"],"properties":{
  "items":{"type":"array","items":{"$ref":"#/components/schemas/RunOutcome"}}}},
"RunType":{"type":"object","required":["type","paused"],"properties":{
  "type":{"type":"string"},"paused":{"type":"boolean"},"concurrency":{"type":"integer"},"rate":{"type":"integer"},
  "rate_window":{"type":"string"},"limit_key":{"type":"string"},"lease":{"type":"string"},
  "max_attempts":{"type":"integer"},"backoff":{"type":"string"},"cap":{"type":"string"}}},
"FiringTimes":{"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"type":"string"}}}},
"Replayed":{"type":"object","required":["id","replayed"],"properties":{"id":{"type":"integer"},"replayed":{"type":"boolean"}}},
"Resent":{"type":"object","required":["sequence","resent"],"properties":{"sequence":{"type":"integer"},"resent":{"type":"boolean"}}},
"OutboxEvent":{"type":"object","required":["specversion","id","source","type","time","sequence","data","published_at"],
  "description":"a CloudEvent, with the time at which it was published","properties":{
  "specversion":{"type":"string"},"id":{"type":"string"},"source":{"type":"string"},"type":{"type":"string"},
  "subject":{"type":"string"},"time":{"type":"string"},"datacontenttype":{"type":"string"},"data":true,
  "sequence":{"type":"string"},"instance":{"type":"string"},"traceparent":{"type":"string"},
  "published_at":{"type":["string","null"]}}},
"Delivery":{"type":"object","required":["sink","attempt","at","delivered","error"],"properties":{
  "sink":{"type":["string","null"]},"attempt":{"type":"integer"},"at":{"type":"string"},"delivered":{"type":"boolean"},
  "error":{"type":["string","null"]}}},
"AuditReport":{"type":"object","required":["rows","first_row","last_hash","intact"],"properties":{
  "rows":{"type":"integer"},"first_row":{"type":"integer"},"last_hash":{"type":"string"},"intact":{"type":"boolean"},
  "broken_at":{"type":"integer"},
  "why":{"type":"string"}}},
"Verification":{"type":"object","required":["findings","instances","tasks","runs"],"properties":{
  "findings":{"type":"array","items":{"type":"object","required":["invariant","subject","message"],"properties":{
    "invariant":{"type":"string"},"subject":{"type":"string"},"message":{"type":"string"}}}},
  "instances":{"type":"integer"},"tasks":{"type":"integer"},"runs":{"type":"integer"}}},
"HealthReport":{"type":"object","required":["findings"],"properties":{"findings":{"type":"array","items":{"type":"object",
  "required":["grade","what","advice"],"properties":{"grade":{"enum":["ok","look","BROKEN"]},
  "what":{"type":"string"},"advice":{"type":"string"}}}}}},
"RetentionReport":{"type":"object","required":["ran","more","instances","runs","deleted_runs","run_events","dead_letters","outbox",
  "keys","audit","token_users","stale_tasks","stale_instances"],"properties":{
  "ran":{"type":"boolean"},"more":{"type":"boolean","description":"true: the time of one request is over, send it again"},
  "instances":{"type":"integer"},"runs":{"type":"integer"},"deleted_runs":{"type":"integer"},
  "run_events":{"type":"integer"},"dead_letters":{"type":"integer"},"outbox":{"type":"integer"},"keys":{"type":"integer"},
  "audit":{"type":"integer"},"token_users":{"type":"integer"},"stale_tasks":{"type":"integer"},
  "stale_instances":{"type":"integer"}}},
"Key":{"type":"object","required":["id","subject","roles","note","created_at"],"properties":{
  "id":{"type":"string"},"subject":{"type":"string"},"roles":{"type":"array","items":{"type":"string"}},
  "scope":{"type":["object","null"]},"note":{"type":"string"},"created_at":{"type":"string"},
  "expires_at":{"type":"string"},"revoked_at":{"type":"string"}}},
"NewKey":{"type":"object","required":["id","key","subject","roles"],"properties":{
  "id":{"type":"string"},"key":{"type":"string","description":"the secret, shown this once"},"subject":{"type":"string"},
  "roles":{"type":"array","items":{"type":"string"}},"scope":{"type":["object","null"]},"note":{"type":"string"},
  "created_at":{"type":"string"},"expires_at":{"type":"string"}}},
"FunctionList":{"type":"object","required":["items"],"properties":{"items":{"type":"array","items":{"type":"object",
  "required":["name","signature","description"],"properties":{"name":{"type":"string"},"signature":{"type":"string"},
  "library":{"type":"string"},"description":{"type":"string"},"example":{"type":"string"},"result":{"type":"string"}}}}}},
"Reference":{"type":"object","required":["key","parts"],"properties":{"key":true,"parts":{"type":["object","null"]}}},
"Status":{"enum":["running","waiting","suspended","completed","failed","cancelled"]},
"Failure":{"type":"object","required":["class","code","message"],"properties":{
  "class":{"type":"string"},"code":{"type":"string"},"message":{"type":"string"},"step":{"type":["string","null"]},
  "at":{"type":["string","null"]},"attempt":{"type":"integer"},"details":true}},
"Wait":{"type":"object","required":["kind","step","token","since"],"properties":{
  "kind":{"enum":["task","timer","signal","subworkflow","run","retry"]},"step":{"type":"string"},
  "token":{"type":"string"},"since":{"type":"string","format":"date-time"},
  "until":{"type":"string","format":"date-time"},"name":{"type":"string"},"key":true,"target":{"type":"string"}}},
"Deployed":{"type":"object","required":["name","version","digest","warnings"],"properties":{
  "name":{"type":"string"},"version":{"type":"string"},"digest":{"type":"string"},"warnings":{"type":"array"}}},
"Definition":{"type":"object","required":["name","version","digest","deployed_at"],"properties":{
  "name":{"type":"string"},"version":{"type":"string"},"digest":{"type":"string"},"title":{"type":["string","null"]},
  "deployed_at":{"type":"string","format":"date-time"},"retired_at":{"type":"string","format":"date-time"}}},
"InstanceAnswer":{"type":"object","required":["id","status","state_version"],"properties":{
  "id":{"type":"string"},"status":{"$ref":"#/components/schemas/Status"},"state_version":{"type":"integer"},
  "output":true,"repeated":{"type":"boolean"}}},
"Instance":{"type":"object",
  "required":["id","definition","version","status","state_version","reference","started_at","changed_at"],"properties":{
  "id":{"type":"string"},"definition":{"type":"string"},"version":{"type":"string"},
  "status":{"$ref":"#/components/schemas/Status"},"state_version":{"type":"integer"},
  "reference":{"$ref":"#/components/schemas/Reference"},"started_at":{"type":"string","format":"date-time"},
  "changed_at":{"type":"string","format":"date-time"},"ended_at":{"type":"string","format":"date-time"},
  "parent":{"type":"string"},"error":{"$ref":"#/components/schemas/Failure"},"input":true,"state":{"type":"object"},
  "output":true,"waits":{"type":"array","items":{"$ref":"#/components/schemas/Wait"}},
  "retrying":{"$ref":"#/components/schemas/Retrying"},
  "signals":{"type":"array","items":{"$ref":"#/components/schemas/Signal"}}}},
"Retrying":{"type":"object","required":["run","step","attempt","max_attempts","last_error","failed_at"],
  "description":"a step that has failed and is retried","properties":{
  "run":{"type":"string"},"step":{"type":"string"},"attempt":{"type":"integer"},"max_attempts":{"type":"integer"},
  "code":{"type":"string"},"last_error":{"type":"string"},"failed_at":{"type":"string","format":"date-time"},
  "next_at":{"type":"string","format":"date-time","description":"absent while the next attempt is made"}}},
"ErrorGroup":{"type":"object",
  "required":["fingerprint","status","definition","versions","step","code","message","count","first_at","last_at","example","times","filter"],
  "properties":{"fingerprint":{"type":"string"},"status":{"enum":["suspended","failed","retrying"]},
  "definition":{"type":"string"},"versions":{"type":"array","items":{"type":"string"}},"step":{"type":"string"},
  "code":{"type":"string"},"message":{"type":"string","description":"of the newest"},"count":{"type":"integer"},
  "first_at":{"type":"string","format":"date-time"},"last_at":{"type":"string","format":"date-time"},
  "next_at":{"type":"string","format":"date-time","description":"retrying: the next attempt"},
  "example":{"type":"string","description":"the newest instance"},
  "times":{"type":"array","items":{"type":"integer"},"description":"how many in each 24th of the window"},
  "filter":{"type":"string","description":"finds its instances"}}},
"ErrorGroups":{"type":"object","required":["items","complete","window"],"properties":{
  "items":{"type":"array","items":{"$ref":"#/components/schemas/ErrorGroup"}},
  "complete":{"type":"boolean","description":"false: only the newest instances were read"},"window":{"type":"string"}}},
"Signal":{"type":"object","required":["id","name","key","payload","at","until"],"properties":{
  "number":{"type":"integer"},"id":{"type":"string"},"name":{"type":"string"},"key":{"type":["string","null"]},
  "payload":true,"at":{"type":"string","format":"date-time"},"until":{"type":["string","null"]},
  "instance":{"type":"string"}}},
"HistoryEntry":{"type":"object","required":["sequence","state_version","event","step","at","actor"],"properties":{
  "sequence":{"type":"integer"},"state_version":{"type":"integer"},"event":{"type":"string"},"step":{"type":"string"},
  "at":{"type":"string","format":"date-time"},"actor":{"type":"string"},"attempt":{"type":"integer"},"details":true,
  "visit":{"type":"string"}}},
"Task":{"type":"object","required":["id","instance","step","name","title","status","state_version","roles","created_at"],
  "properties":{"id":{"type":"string"},"instance":{"type":"string"},"step":{"type":"string"},"name":{"type":"string"},
  "title":{"type":"string"},"status":{"enum":["open","assigned","completed","cancelled","expired"]},
  "state_version":{"type":"integer"},"roles":{"type":"array","items":{"type":"string"}},
  "exclude":{"type":"array","items":{"type":"string"}},
  "managers":{"type":"array","items":{"type":"string"}},"priority":{"type":"integer"},"payload":true,"form":true,
  "reference":{"$ref":"#/components/schemas/Reference"},"created_at":{"type":"string","format":"date-time"},
  "assignee":{"type":"string"},"due":{"type":"string","format":"date-time"},
  "deadline":{"type":"string","format":"date-time"},"completed_by":{"type":"string"},
  "completed_at":{"type":"string","format":"date-time"}}},
"Alert":{"type":"object","required":["id","name","filter","more_than","owner","raised"],"properties":{
  "id":{"type":"string"},"name":{"type":"string"},"filter":{"type":"string"},"more_than":{"type":"integer"},
  "for":{"type":"string"},"owner":{"type":"string"},"raised":{"type":"boolean"},
  "exceeds_since":{"type":"string","format":"date-time"},"raised_at":{"type":"string","format":"date-time"}}},
"TaskLink":{"type":"object","required":["path","token","person","expires_at"],"properties":{
  "path":{"type":"string","description":"of the page, below the server's address"},"token":{"type":"string"},
  "person":{"type":"string"},"expires_at":{"type":"string","format":"date-time"}}},
"LinkedQuestion":{"type":"object","required":["state"],"properties":{
  "state":{"enum":["open","answered","changed","expired","closed","unknown"],"description":"unknown: not a link of this server"},"person":{"type":"string"},"title":{"type":"string"},
  "requester":{"type":["string","null"]},"asked_at":{"type":"string","format":"date-time"},
  "due":{"type":"string","format":"date-time"},"deadline":{"type":"string","format":"date-time"},"reference":true,
  "payload":true,"form":true,"answer":true,"expires_at":{"type":"string","format":"date-time"},
  "answered_at":{"type":"string","format":"date-time"},"answered_by":{"type":"string"},
  "before":{"type":"array","items":{"type":"object","required":["title","person","at"],"properties":{
    "title":{"type":"string"},"person":{"type":"string"},"at":{"type":"string","format":"date-time"}}}}}},
"AnswerState":{"type":"object","required":["state"],"properties":{"state":{"enum":["answered"]}}},
"EmbedToken":{"type":"object","required":["token","expires_at"],"properties":{"token":{"type":"string"},
  "expires_at":{"type":"string","format":"date-time"}}},
"Draft":{"type":"object","required":["payload","saved_at"],"properties":{"payload":true,
  "saved_at":{"type":["string","null"],"description":"null: the caller has no draft"}}},
"View":{"type":"object","required":["id","name","filter","owner","own","changed_at"],"properties":{
  "id":{"type":"string"},"name":{"type":"string"},"page":{"enum":["instances","inbox"]},"filter":{"type":"string"},
  "shared":{"type":"boolean"},"owner":{"type":"string"},"own":{"type":"boolean"},
  "changed_at":{"type":"string","format":"date-time"}}},
"Run":{"type":"object","required":["id","type","status","attempt","max_attempts","run_at"],"properties":{
  "id":{"type":"string"},"type":{"type":"string"},
  "status":{"enum":["pending","leased","succeeded","failed","cancelled"]},"priority":{"type":"integer"},
  "payload":true,"result":true,"error":true,"last_error":{"type":"string"},"attempt":{"type":"integer"},
  "max_attempts":{"type":"integer"},"leases":{"type":"integer"},"fence":{"type":"integer"},
  "run_at":{"type":"string","format":"date-time"},"created_at":{"type":"string","format":"date-time"},
  "updated_at":{"type":"string","format":"date-time"},"lease_until":{"type":"string","format":"date-time"},
  "leased_by":{"type":"string"},"lease_account":{"type":"string"},"idempotency_key":{"type":"string"},"instance":{"type":"string"},
  "step":{"type":"string"},"timeout":{"type":"string"},"limit_key":{"type":"string"},
  "deleted_at":{"type":"string","format":"date-time"},"delete_reason":{"type":"string"},
  "lease_ms":{"type":"integer","description":"in the answer to a lease: how long it lasts"},
  "traceparent":{"type":"string","description":"in the answer to a lease: the trace context of the attempt"}}},
"Schedule":{"type":"object","required":["name","state_version","paused","next_at"],"properties":{
  "name":{"type":"string"},"state_version":{"type":"integer"},"paused":{"type":"boolean"},
  "next_at":{"type":["string","null"]},"last":true,"queued":{"type":"array"},
  "cron":{"type":"string"},"every":{"type":"string"},"from":{"type":["string","null"]},"zone":{"type":"string"},
  "overlap":{"enum":["skip","queue","allow","cancel_other"]},"catch_up":{"type":"string"},"jitter":{"type":"string"},
  "start":{"type":["object","null"],"description":"the instance that a firing starts"},
  "run":{"type":["object","null"],"description":"the run that a firing submits"},
  "created_at":{"type":"string","format":"date-time"},"changed_at":{"type":"string","format":"date-time"}}},
"DeadLetter":{"type":"object","required":["id","kind","reason","node","at","envelope"],"properties":{
  "id":{"type":"integer"},"kind":{"type":"string"},"instance":{"type":["string","null"]},"reason":{"type":"string"},
  "node":{"type":"string"},"at":{"type":"string","format":"date-time"},"envelope":true}},
"BulkStarted":{"type":"object","required":["action","matched"],"properties":{
  "action":{"type":"string"},"matched":{"type":"integer"},"id":{"type":"string"},"dry_run":{"type":"boolean"},"preview":{"type":"boolean"},
  "more":{"type":"boolean"},"instances":{"type":"array"}}},
"BulkItem":{"type":"object","required":["instance","outcome"],"properties":{"instance":{"type":"string"},
  "outcome":{"enum":["pending","done","failed"]},"detail":{"type":"string"}}},
"BulkProgress":{"type":"object","required":["id","action","state","total","done","failed_count","finished"],
  "properties":{"id":{"type":"string"},"action":{"type":"string"},"total":{"type":"integer"},
  "done":{"type":"integer","description":"without those that failed"},
  "failed":{"type":"array","description":"the first 1000","items":{"type":"object","required":["instance","detail"],
  "properties":{"instance":{"type":"string"},"detail":{"type":"string"}}}},"failed_count":{"type":"integer"},
  "finished":{"type":"boolean","description":"also if it was cancelled"},
  "state":{"enum":["preview","running","paused","cancelled","finished"]},
  "created_at":{"type":"string","format":"date-time"},"person":{"type":"string"},"reason":{"type":"string"},
  "filter":{"type":"string"}}},
"AuditRow":{"type":"object","required":["sequence","at","who","what","resource","why","from","hash"],"properties":{
  "sequence":{"type":"integer"},"at":{"type":"string","format":"date-time"},"who":{"type":"string"},
  "what":{"type":"string"},"resource":{"type":"string"},"why":{"type":"string"},"from":{"type":"string"},
  "details":true,"previous_hash":{"type":"string"},"hash":{"type":"string"}}},
"Session":{"type":"object","required":["user","roles","permissions","csrf","auth","sign_in"],"properties":{
  "user":{"type":["string","null"],"description":"null: the caller is not signed in"},
  "roles":{"type":"array","items":{"type":"string"}},"permissions":{"type":"array","items":{"type":"string"}},
  "csrf":{"type":"string","description":"changes in this session need it in X-Cairn-CSRF"},
  "auth":{"enum":["none","session","bearer"]},
  "sign_in":{"type":"array","items":{"enum":["key","oidc"]}}}},
"Info":{"type":"object","required":["cairn","node","now"],"properties":{
  "cairn":{"type":"string"},"definition_language":{"type":"integer"},"expression_language":{"type":"integer"},"node":{"type":"string"},"now":{"type":"string","format":"date-time"}}}
})";

constexpr std::string_view page_suffix = "Page";

}  // namespace

std::span<const AnswerSchema> answers_of(std::string_view operation) {
  const auto is = [&](const AnswerSchema& answer) { return answer.operation == operation; };
  const auto* const first = std::find_if(std::begin(answers), std::end(answers), is);
  const auto* const last = std::find_if_not(first, std::end(answers), is);
  return {first, last};
}

Json answer_components() {
  Json schemas = parse_json(components).value_or(Json::object());
  for (const AnswerSchema& answer : answers) {
    if (!answer.schema.ends_with(page_suffix)) continue;
    const std::string item(answer.schema.substr(0, answer.schema.size() - page_suffix.size()));
    const Json items =
        Json::object({{"type", "array"}, {"items", Json::object({{"$ref", "#/components/schemas/" + item}})}});
    schemas.set(
        std::string(answer.schema),
        Json::object({{"type", "object"},
                      {"required", Json::array({"items"})},
                      {"properties",
                       Json::object({{"items", items},
                                     {"next_cursor", Json::object({{"type", Json::array({"string", "null"})}})},
                                     {"unreadable",
                                      Json::object({{"type", "array"},
                                                    {"items", Json::object({{"type", "string"}})},
                                                    {"description",
                                                     "rows that were omitted because they cannot be read"}})}})}}));
  }
  return schemas;
}

}  // namespace cairn::api
