#include "api/answer_schemas.h"

#include <algorithm>
#include <string>

namespace cairn::api {
namespace {

constexpr AnswerSchema answers[] = {
    {"deployDefinition", "201", "Deployed"},
    {"listDefinitions", "200", "DefinitionPage"},
    {"getDefinition", "200", "Definition"},
    {"retireDefinition", "204", ""},
    {"startInstance", "201", "InstanceAnswer"},
    {"listInstances", "200", "InstancePage"},
    {"getInstance", "200", "Instance"},
    {"getHistory", "200", "HistoryEntryPage"},
    {"signalInstance", "200", "InstanceAnswer"},
    {"cancelInstance", "200", "InstanceAnswer"},
    {"suspendInstance", "200", "InstanceAnswer"},
    {"resumeInstance", "200", "InstanceAnswer"},
    {"retryInstance", "200", "InstanceAnswer"},
    {"skipStep", "200", "InstanceAnswer"},
    {"editState", "200", "InstanceAnswer"},
    {"deleteInstance", "204", ""},
    {"listTasks", "200", "TaskPage"},
    {"getTask", "200", "Task"},
    {"assignTask", "200", "Task"},
    {"releaseTask", "200", "Task"},
    {"reassignTask", "200", "Task"},
    {"commentTask", "200", "Task"},
    {"completeTask", "200", "InstanceAnswer"},
    {"submitRun", "201", "Run"},
    {"listRuns", "200", "RunPage"},
    {"getRun", "200", "Run"},
    {"cancelRun", "200", "Run"},
    {"createSchedule", "201", "Schedule"},
    {"listSchedules", "200", "SchedulePage"},
    {"getSchedule", "200", "Schedule"},
    {"changeSchedule", "200", "Schedule"},
    {"pauseSchedule", "200", "Schedule"},
    {"resumeSchedule", "200", "Schedule"},
    {"deleteSchedule", "204", ""},
    {"listDeadLetters", "200", "DeadLetterPage"},
    {"getDeadLetter", "200", "DeadLetter"},
    {"startBulk", "202", "BulkStarted"},
    {"getBulk", "200", "BulkProgress"},
    {"listAudit", "200", "AuditRowPage"},
    {"getInfo", "200", "Info"},
    {"getSession", "200", "Session"},
    {"createSession", "201", "Session"},
    {"endSession", "204", ""},
    {"beginLogin", "303", ""},
    {"finishLogin", "201", "Session"},
};

constexpr std::string_view components = R"({
"Problem":{"type":"object","required":["type","title","status"],"properties":{
  "type":{"type":"string"},"title":{"type":"string"},"status":{"type":"integer"},"detail":{"type":"string"},
  "limit":{"type":"string"},"limit_value":{"type":"integer"},
  "errors":{"type":"array","items":{"type":"object","properties":{
    "pointer":{"type":"string"},"detail":{"type":"string"}}}}}},
"Reference":{"type":"object","required":["key","parts"],"properties":{"key":true,"parts":{"type":["object","null"]}}},
"Status":{"enum":["running","waiting","suspended","completed","failed","cancelled"]},
"Failure":{"type":"object","required":["class","code","message"],"properties":{
  "class":{"type":"string"},"code":{"type":"string"},"message":{"type":"string"},"step":{"type":"string"},
  "attempt":{"type":"integer"},"details":true}},
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
  "output":true,"waits":{"type":"array","items":{"$ref":"#/components/schemas/Wait"}}}},
"HistoryEntry":{"type":"object","required":["sequence","state_version","event","step","at","actor"],"properties":{
  "sequence":{"type":"integer"},"state_version":{"type":"integer"},"event":{"type":"string"},"step":{"type":"string"},
  "at":{"type":"string","format":"date-time"},"actor":{"type":"string"},"attempt":{"type":"integer"},"details":true}},
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
"Run":{"type":"object","required":["id","type","status","attempt","max_attempts","run_at"],"properties":{
  "id":{"type":"string"},"type":{"type":"string"},
  "status":{"enum":["pending","leased","succeeded","failed","cancelled"]},"priority":{"type":"integer"},
  "payload":true,"result":true,"error":true,"last_error":{"type":"string"},"attempt":{"type":"integer"},
  "max_attempts":{"type":"integer"},"leases":{"type":"integer"},"fence":{"type":"integer"},
  "run_at":{"type":"string","format":"date-time"},"created_at":{"type":"string","format":"date-time"},
  "updated_at":{"type":"string","format":"date-time"},"lease_until":{"type":"string","format":"date-time"},
  "leased_by":{"type":"string"},"lease_account":{"type":"string"},"idempotency_key":{"type":"string"},"instance":{"type":"string"},
  "step":{"type":"string"}}},
"Schedule":{"type":"object","required":["name","state_version","paused","next_at"],"properties":{
  "name":{"type":"string"},"state_version":{"type":"integer"},"paused":{"type":"boolean"},
  "next_at":{"type":["string","null"]},"last":true,"queued":{"type":"array"}}},
"DeadLetter":{"type":"object","required":["id","kind","reason","node","at","envelope"],"properties":{
  "id":{"type":"integer"},"kind":{"type":"string"},"instance":{"type":["string","null"]},"reason":{"type":"string"},
  "node":{"type":"string"},"at":{"type":"string","format":"date-time"},"envelope":true}},
"BulkStarted":{"type":"object","required":["action","matched"],"properties":{
  "action":{"type":"string"},"matched":{"type":"integer"},"id":{"type":"string"},"dry_run":{"type":"boolean"},
  "more":{"type":"boolean"},"instances":{"type":"array"}}},
"BulkProgress":{"type":"object","required":["id","action","total","done","failed","failed_count","finished"],
  "properties":{"id":{"type":"string"},"action":{"type":"string"},"total":{"type":"integer"},
  "done":{"type":"integer"},"failed":{"type":"array"},"failed_count":{"type":"integer"},
  "finished":{"type":"boolean"}}},
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
  "cairn":{"type":"string"},"node":{"type":"string"},"now":{"type":"string","format":"date-time"}}}
})";

constexpr std::string_view page_suffix = "Page";

}  // namespace

const AnswerSchema* answer_of(std::string_view operation) {
  const auto* found = std::find_if(std::begin(answers), std::end(answers),
                                   [&](const AnswerSchema& answer) { return answer.operation == operation; });
  return found == std::end(answers) ? nullptr : found;
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
