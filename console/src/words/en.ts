// English words of the console. German (de.ts) has the same shape; the compiler checks that none is missing.
const s = (number: number, one: string, many = `${one}s`): string => `${number} ${number === 1 ? one : many}`;

export const en = {
  common: {
    copied: 'Copied', copy_failed: 'The browser does not allow copying here', copy_command: 'Copy command', copy_id: 'Copy id', loading: 'Loading',
    not_found: 'This does not exist', forbidden: 'You may not see this', broken: 'This did not work', try_again: 'Try again', no_answer: 'The server does not answer.', not_now: 'Not now',
  },
  status: {
    running: 'Running', person: 'Waiting for a person', time: 'Waiting for time', event: 'Waiting for an event', retrying: 'Retrying', suspended: 'Suspended', completed: 'Completed', failed: 'Failed',
    cancelled: 'Cancelled', waiting: 'Waiting', try_of: (n: number, of: number) => `try ${n} of ${of}`, n_of: (n: number, of: number) => `${n} of ${of}`,
  },
  task_status: { open: 'open', assigned: 'taken', completed: 'answered', cancelled: 'cancelled', expired: 'expired' },
  run_status: { pending: 'Pending', leased: 'With a worker', succeeded: 'Succeeded', failed: 'Failed', cancelled: 'Cancelled' },
  time: { ago: (x: string) => `${x} ago`, in: (x: string) => `in ${x}`, left: (x: string) => `${x} left`, overdue: (x: string) => `${x} overdue` },
  nav: {
    main: 'Main', small: 'Main, small screen', home: 'Home', instances: 'Instances', inbox: 'Inbox', definitions: 'Definitions', schedules: 'Schedules', operate: 'Operate', dead_letters: 'Dead letters', errors: 'Errors', alerts: 'Alerts', batches: 'Bulk actions',
    runs: 'Runs and workers', events: 'Events', audit: 'Audit', keys: 'Keys', system: 'System', more: 'More',
  },
  shell: {
    skip: 'Skip to content', where: 'Where you are', palette: 'Paste an id, find a reference, run a command', live: 'Live', polling: 'Polling', paused: 'Paused',
    live_title: 'Changes arrive at once. Click to pause.', polling_title: 'No event stream; the page asks every few seconds.', theme: 'Switch to the other theme', help: 'Keyboard and help',
    account: (name: string) => `Account of ${name}`, show_utc: 'Show times in UTC', show_local: 'Show local times', sign_out: 'Sign out', act_as: 'Act as another person',
    act_as_title: 'Act as another person', act_as_text: 'This server does not ask who you are. Give a name to answer tasks that only certain people may do. Leave it empty to act without a name.', act_as_name: 'Name', act_as_save: 'Use this name',
  },
  away: {
    title: 'The server does not answer', text: 'The console asks again every three seconds. Check that cairn runs, and the proxy before it.', now: 'Try now',
    since: (time: string) => `No connection to the server since ${time}. You see the last known state.`, next: (seconds: number) => `Next try in ${seconds} s.`,
  },
  sign_in: {
    title: 'Sign in', text: 'Use an API key of this server. It is kept in a cookie that scripts cannot read.', lost_title: 'Your session has ended', lost_text: 'You signed out elsewhere, or the key was revoked or expired. Sign in to continue where you were.',
    account: 'Sign in with your account', or_key: 'Or use an API key of this server.', not_signed_in: 'Your account was not accepted. Try again, or ask an administrator for a role on this server.',
    key: 'API key', help: 'No key yet? An administrator makes one with', go: 'Sign in', empty: 'Paste your API key here.', wrong: 'The server does not know this key. It may be revoked, expired or cut off.',
  },
  help: {
    title: 'Keyboard and help', documentation: 'Documentation of this version', close: 'Close', letters: 'Use single letters as commands',
    keys: [
      ['Ctrl K', 'command palette'], ['g h', 'go to home'], ['g i', 'go to instances'], ['g t', 'go to the inbox'], ['g d', 'go to definitions'], ['g s', 'go to schedules'], ['g w', 'go to runs and workers'], ['/', 'filter'], ['j k', 'next and previous row'],
      ['x', 'select the row'], ['Enter', 'open the row, or go into the form'], ['[ ]', 'previous and next instance'], ['← →', 'previous and next event'], ['v', 'diagram as text'], ['r', 'retry'], ['e', 'edit the state'], ['c', 'cancel the instance'],
      ['a', 'take the task'], ['Ctrl Enter', 'complete and next'], ['l', 'live or paused'], ['t', 'other theme'], ['Esc', 'back'], ['?', 'this help'],
    ] as [string, string][],
  },
  palette: {
    label: 'Command palette', found: 'Found', go: 'Go to', do: 'Do', start: 'Start', recent: 'Seen before', task: 'task', run: 'run', nothing: 'Nothing has this name or id.', list_all: (x: string) => `Show all instances with “${x}”`,
    start_one: (x: string) => `Start ${x}`, pause_live: 'Pause live updates', go_live: 'Resume live updates',
  },
  filter: {
    label: 'Filter', add: 'Add a filter', placeholder: 'status:suspended definition:loan.approval ref:L-1047 from:2026-11-01', offers: 'Suggestions', remove: (x: string) => `Remove ${x}`,
    names: { status: 'status', definition: 'workflow', version: 'version', ref: 'reference', parent: 'parent', from: 'started from', to: 'started before', step: 'step', error: 'error', deleted: 'deleted' },
  },
  views: { label: 'Saved views', all: 'All', attention: 'Needs attention', retrying: 'Retrying', waiting: 'Waiting', failed: 'Failed', save: 'Save view', forget: 'Forget view', alert: 'Alert me', save_title: 'Save this view', name: 'Name', share: 'Share it with everyone on this server', of: (x: string) => `Shared by ${x}` },
  instances: {
    shown: (n: string, more: boolean) => (more ? `${n} loaded, more below` : n === '1' ? '1 instance' : `${n} instances`), choose_columns: 'Columns', reference: 'Reference', select_page: 'Select all loaded rows', select_one: (x: string) => `Select ${x}`,
    columns: { workflow: 'Workflow', status: 'Status', where: 'Where it is', since: 'Since', next: 'What happens next', started: 'Started', id: 'Id' },
    fresh: (n: number) => (n === 1 ? '1 new' : `${n} new`), nothing: (n: number) => (n === 1 ? 'No instance matches this filter' : `No instance matches all ${n} filters`), none: 'No instance yet', none_text: 'Start one, or send a request to POST /v1/instances.',
    without: (x: string) => `Without “${x}” there are some.`, drop: 'Drop that filter', selected: (n: string) => `${n} selected`, all_selected: 'All that match are selected', select_all: 'Select all that match', copy_curl: 'Copy as curl',
    where_task: (x: string) => `${x}: waits for an answer`, where_signal: (x: string) => `Waits for ${x}`, where_time: (x: string) => `${x}: waits for its time`, where_child: (x: string) => `${x}: waits for another workflow`,
    until_you_act: 'Stopped until you act', try_in: (n: number, x: string) => `Try ${n} in ${x}`, try_now: (n: number) => `Try ${n} any moment`, trying: (n: number) => `Try ${n} is being made`, timer: (x: string) => `Timer ${x}`, held: 'Suspended by hand',
  },
  bulk: {
    verbs: {
      retry: { do: 'Retry', doing: 'Retrying', done: 'Retried' }, resume: { do: 'Resume', doing: 'Resuming', done: 'Resumed' }, suspend: { do: 'Suspend', doing: 'Suspending', done: 'Suspended' },
      cancel: { do: 'Cancel', doing: 'Cancelling', done: 'Cancelled' }, delete: { do: 'Delete', doing: 'Deleting', done: 'Deleted' },
    },
    title: (verb: string, n: string) => `${verb} ${n} ${n === '1' ? 'instance' : 'instances'}?`, working: (verb: string, n: string) => `${verb} ${n}`, finished: (verb: string, n: string, of: string) => `${verb} ${n} of ${of}`,
    frozen: 'The list is frozen: what is added from now on is not touched. The server does the work, also when you close this page.', counting: 'Counting…', paused: 'Paused', stop: 'Stop', results: 'Results', in_background: 'Continue in the background',
    how_many: 'How many', first: 'First', filter: 'Filter', everything: 'everything', same_as: 'Copy as', try_five: 'Try with 5 first', pause: 'Pause', go_on: 'Continue', close: 'Close', rest: (verb: string, n: string) => `${verb} the other ${n}`,
    progress: (n: string, of: string, failed: string) => `${n} of ${of} done${failed === '0' ? '' : `, ${failed} did not work`}.`, failed_list: 'What did not work',
  },
  home: {
    needs: (n: number) => (n === 1 ? 'One error needs a decision.' : `${n} errors need a decision.`), late: (n: number) => (n === 1 ? 'Mostly calm. One task is late.' : `Mostly calm. ${n} tasks are late.`), retry_only: 'Mostly calm. Some calls fail and retry by themselves.', calm: 'All calm. Nothing needs you.',
    range: 'Time range', ranges: { '1h': '1 h', '24h': '24 h', '7d': '7 d' }, attention: 'Needs attention', one_row: 'same error at the same step is one row', all_errors: (n: string) => `All errors (${n})`, instances_with: (n: string) => `${n} instances with this error`, example: 'Example', last: (x: string) => `last ${x}`, hold: (n: string) => `Hold ${n}`, nothing_wrong: 'No error at any step.',
    throughput: 'Throughput', started_finished: (a: string, b: string) => `${a} started, ${b} finished`, chart: 'Instances started and finished over time', started: 'started', finished: 'finished', now: 'now', per: (x: string) => `per ${x}`, out_of_time: 'Out of time', since: (x: string) => `since ${x}`,
    fix: 'Fix and continue', retry: (n: string) => `Retry ${n}`, open: 'Open', by_themselves: (x: string) => (x ? `Retries by itself; the next in ${x}.` : 'Retries by itself.'), waiting_longest: 'Waiting for people', people_first: 'most urgent first', nobody_waits: 'No task is open.', nobody_took: 'no one has taken it',
    for_no_limit: (x: string) => `${x}, no limit`, changed: 'What changed', deployed: (x: string) => `deployed ${x}`,
    tiles: {
      running: 'Running', started: (n: string) => `${n} in the last minute`, people: 'Waiting on people', overdue: (n: string) => (n === '1' ? '1 is overdue' : `${n} are overdue`), none_overdue: 'none is overdue', retrying: 'Retrying', by_itself: 'continue by themselves', suspended: 'Suspended',
      need_you: 'need you', need_nobody: 'nothing is stopped', dead: 'Dead letters', look: 'could not be delivered', all_delivered: 'everything was delivered', ready: 'Runs without a worker', oldest: (x: string) => `oldest waits ${x}`, taken_at_once: 'taken at once',
    },
  },
  errors: {
    sub: (n: string, of: string) => (n === '1' ? `one error in ${of} instances` : `${n} errors in ${of} instances`), workflow: 'Workflow', every_workflow: 'Every workflow', which: 'Which errors', states: { all: 'All', suspended: 'Stopped', retrying: 'Retrying', failed: 'Failed' }, none_text: 'Errors appear here by themselves, one row for each.',
    newest_only: 'Only the newest instances were read; the counts may be higher.',
  },
  alerts: {
    sub: 'when too many instances match a filter', create: 'Create alert', none: 'No alert yet', none_text: 'An alert sends a signed event to your webhooks when more instances match a filter than you allow.', name: 'Name', status: 'Status', when: 'When', filter: 'Filter', owner: 'Made by', remove: 'Remove', raised: 'Raised', counting: 'Too many, not long enough', quiet: 'Quiet',
    more: (n: string) => `more than ${n}`, more_for: (n: string, time: string) => `more than ${n} for ${time}`, filter_help: 'The same words as in the list of instances.', most: 'More than', lasts: 'For at least', lasts_help: 'Such as 5m. Empty: at once.',
  },
  batches: {
    sub: 'one action for many instances', none: 'No bulk action yet', none_text: 'Choose instances in the list and act on all of them at once.', what: 'What', status: 'Status', progress: 'Progress', who: 'Who', why: 'Why', when: 'When', failed: (n: string) => `${n} did not work`, items: 'Instances', instance: 'Instance', outcome: 'Result', detail: 'Detail', more: 'Show more',
    states: { preview: 'Preview', running: 'Running', paused: 'Paused', cancelled: 'Stopped', finished: 'Done' }, outcomes: { pending: 'Not yet', done: 'Done', failed: 'Did not work' },
  },
  first: {
    title: 'cairn is ready. Try it in three clicks.', text: 'Start a process, answer its question, look at what happened. Everything you do is kept.', text_empty: 'There is no definition yet. Deploy a file, then start it.', one: (x: string) => `Start “${x}”`, one_none: 'Deploy a definition', one_text: 'Fill in a small form made from the file, then watch the diagram move.', one_button: 'Start it',
    two: 'Answer as the person asked', two_text: 'The question is in your inbox, with a form made from a few lines of the file.', two_button: 'Open the inbox', three: 'See how it is made', three_text: 'Each definition has a diagram, its source and the difference to the version before.', three_button: 'Look at definitions',
    terminal: 'Or from your terminal', start_one: 'start one', see_waiting: 'see what is waiting', deploy: 'deploy a file', ready: 'Ready to start', all: (n: number) => `All ${n}`, is_ready: 'ready', no_definition: 'No definition is deployed.',
  },
  instance: {
    started: 'started', ended: 'ended', by: (x: string) => `by ${x}`, copy_as: 'Copy as', more: 'More actions', before: 'Previous instance', after: 'Next instance', view: 'View of the diagram', views: { follow: 'Follow', fit: 'Fit', text: 'Text' }, diagram: (x: string) => `Diagram of ${x}. Use the arrow keys to move along the steps.`,
    no_diagram: 'The server could not draw this definition.', details: 'Details', tabs: { dock: 'Timeline, history, state', tasks: 'Tasks', family: 'Family', raw: 'Raw' }, panes: { timeline: 'Timeline', history: 'History', state: 'State' }, event_before: 'Event before', event_after: 'Event after',
    event_of: (n: number, of: number) => `Event ${n} of ${of}, one cursor for all`, short: 'Short', full: 'Full', state_now: 'State now', compared_output: 'with the output', state_version: (n: number) => `version ${n}`, output: 'Output', no_tasks: 'This instance has opened no tasks.', parent: 'Started by', no_family: 'It has no parent and no children.', same_part: (x: string) => `All instances with this ${x}`,
  },
  why: {
    label: 'Why it does not move', stopped: (step: string, code: string) => `Stopped at “${step}”: ${code}. It continues when you act.`, held: (who: string) => `${who || 'An operator'} suspended it.`, because: (x: string) => `Reason: ${x}`, held_more: 'It continues unchanged when an operator resumes it.',
    failed: (step: string, code: string) => (step ? `It ended without success at “${step}”: ${code}.` : `It ended without success: ${code}.`), retrying: (step: string, n: number, of: number) => `“${step}” failed ${n} of ${of} times and retries by itself.`, next_try: (x: string) => `next try in ${x}`, deadline: (when: string) => `If no one answers by ${when}, it continues without an answer.`, reminder: (when: string) => `A reminder goes out ${when}.`, timer: (step: string, when: string) => `“${step}” stops waiting ${when}.`,
    person: 'a person', person_with: (x: string) => `a person with the role ${x}`, task: (who: string, what: string) => `Waiting for ${who} to answer “${what}”.`, task_taken: (x: string) => `${x} has taken it.`, task_open: (x: string) => `No one has taken it in ${x}.`, no_limit: 'There is no time limit.',
    signal: (name: string, key: string, x: string) => `Waiting for the signal ${name}${key ? ` with the key ${key}` : ''} for ${x}.`, time: (step: string, when: string) => `“${step}” waits until ${when}.`, time_left: (x: string) => `It continues by itself in ${x}.`, child: (step: string) => `“${step}” waits for another workflow to end.`,
    running_by: (step: string, who: string) => `“${step}” is being worked on${who ? ` by ${who}` : ''}.`, lease: (x: string) => `Its lease ends ${x}.`, no_worker: (step: string, type: string) => `“${step}” waits for a worker that takes ${type}.`, since: (x: string) => `for ${x}`, skip: 'Skip step', edit: 'Edit state', retry: 'Retry now', resume: 'Resume', open_task: 'Open the task',
    send_signal: 'Send the signal', open_child: 'Open the other workflow', see_run: 'See the run', see_workers: 'See workers',
  },
  actions: {
    reason: 'Reason', kept: 'Kept in the audit trail.', moved: 'The instance has moved on meanwhile. Look again, then decide.', signal_name: 'Signal', signal_key: 'Key', signal_payload: 'Payload', skip_result: 'Result of the skipped step',
    retry: { menu: 'Retry now', title: (x: string) => `Retry ${x}?`, text: 'The failed step runs again with the present state.', button: 'Retry', done: (x: string) => `${x} is running again.` },
    skip: { menu: 'Skip the failed step', title: (x: string) => `Skip the failed step of ${x}?`, text: 'The workflow continues as if the step had given this result.', button: 'Skip step', done: (x: string) => `${x} continues after the step.` },
    suspend: { menu: 'Suspend', title: (x: string) => `Suspend ${x}?`, text: 'It stops before its next step until an operator resumes it. Timers keep counting.', button: 'Suspend', done: (x: string) => `${x} is suspended.` },
    resume: { menu: 'Resume', title: (x: string) => `Resume ${x}?`, text: 'It continues unchanged.', button: 'Resume', done: (x: string) => `${x} continues.` },
    cancel: { menu: 'Cancel instance', title: (x: string) => `Cancel ${x}?`, text: 'It ends now, with the workflows that it started. Open tasks are closed. This cannot be undone.', button: 'Cancel instance', done: (x: string) => `${x} is cancelled.` },
    signal: { menu: 'Send a signal', title: (x: string) => `Send a signal to ${x}`, text: 'If the instance does not wait for it, the signal is kept until it does.', button: 'Send signal', done: (x: string) => `The signal was sent to ${x}.` },
    delete: { menu: 'Delete', title: (x: string) => `Delete ${x}?`, text: 'It disappears from the lists. The audit trail stays.', button: 'Delete', done: (x: string) => `${x} is deleted.` },
  },
  edit: {
    button: 'Edit state', title: (x: string) => `Edit the state of ${x}`, state: 'State', changes: 'What changes', no_changes: 'Nothing yet.', object: 'The state must be an object.', why_missing: 'Say why you change it. The reason is kept in the audit trail.', save: 'Save', save_retry: 'Save and retry', saved: (x: string) => `The state of ${x} is changed.`,
    retried: (x: string) => `The state of ${x} is changed and the step runs again.`,
  },
  history: {
    label: 'History', idle: (x: string) => `${x} nothing happened`, started: (who: string) => `Started by ${who}`, waiting: (step: string) => `${step} began to wait`, step_done: (step: string) => `${step} done`, completed: 'Completed', faulted: (step: string, code: string) => `${step} failed: ${code}`, stopped: (step: string) => `Stopped at ${step}`,
    suspended: (who: string) => `Suspended by ${who}`, resumed: (who: string) => `Resumed by ${who}`, skipped: (step: string, who: string) => `${step} skipped by ${who}`, cancelled: (who: string) => `Cancelled by ${who}`, edited: (who: string) => `State edited by ${who}`,
  },
  timeline: { label: 'Timeline', now: 'now', nothing: 'Nothing has waited yet.', tries: (n: number, of: number) => `try ${n} of ${of}` },
  inspector: {
    label: 'Selected step', choose: 'Choose a step in the diagram.', step: 'step', who_may: 'Who may do it', anybody: 'anyone', not: 'Not', taken_by: 'Taken by', nobody: 'no one yet', due: 'Due', answered_by: 'Answered by', signal: 'Signal', key: 'Key', since: 'Since', took: 'Took', until: 'Until', events: 'Events', error: 'Last error',
    person_sees: 'What the person sees', child: 'Open the other workflow', open_task: 'Open the task', copy_step: 'Copy the id of the step', call: 'Call', type: 'Type', tries: 'Tries', next_try: 'Next try', worker: 'Worker', last_error: 'Last error',
  },
  diagram: {
    as_text: 'The diagram as text', here: (x: string) => `${x} here`,
    shapes: { action: 'Call', data: 'Change of data', task: 'Task for people', wait: 'Wait', signal: 'Signal', subworkflow: 'Another workflow', collapsed: 'Block', event: 'Event', decision: 'Decision', race: 'First of several', header: 'Block', complete: 'End', fail: 'Failure', start: 'Start', end: 'End', bar: 'Parallel', undo: 'Undo' },
    states: { done: 'Done', current: 'Here now', waiting: 'Waiting', failing: 'Failing', failed: 'Failed', skipped: 'Skipped', 'not reached': 'Not reached' },
  },
  json: { nothing: 'Empty.', others: 'All instances with this value', large: (kb: string) => `${kb} KB. This is the beginning.`, download: 'Download all' },
  form: {
    json: 'JSON', optional: '(optional)', yes: 'Yes', no: 'No', choose_one: 'Choose one', add: 'Add', remove: (n: number) => `Remove number ${n}`, between: (a: string, b: string) => `Between ${a} and ${b}`, no_json: (x: string) => `This is not JSON: ${x}.`,
    required: 'Please fill this in.', number: 'This is not a number.', short: (n: number) => `At least ${n} characters.`, long: (n: number) => `At most ${n} characters.`, least: (x: string) => `At least ${x}.`, most: (x: string) => `At most ${x}.`, pattern: 'This does not have the expected form.', choose: 'Choose one of these.', format: 'This does not have the expected form.',
  },
  inbox: {
    sub: (n: number, late: number) => `${n === 0 ? 'nothing' : n} for you${late ? `, ${s(late, 'is', 'are')} late` : ''}`, filter: 'Filter', by_due: 'Most urgent first', newest: 'Newest first', which: 'Which tasks', tabs: { all: 'For me and my teams', mine: 'Mine', open: 'Not taken', done: 'Done' }, next_previous: 'next and previous', list: 'Tasks',
    empty: { all: 'Nothing waits for you', mine: 'You have taken no task', open: 'Every task is taken', done: 'No task was answered yet' }, empty_text: 'New tasks appear here by themselves.', no_limit: 'no limit', you: 'you', anybody: 'anyone',
  },
  task: {
    back: 'Back to the list', since: (x: string) => `Asked ${x}.`, closed: (status: string, who: string) => `It is ${status}${who ? ` by ${who}` : ''}.`, yours: 'You have taken it.', taken: (x: string) => `${x} has taken it.`, not_taken: 'No one has taken it.', used: (n: number) => `${n} percent of the time is used`, no_form: 'This task asks for nothing but your consent.', fix: (n: number) => `${s(n, 'field needs', 'fields need')} your attention.`,
    complete: 'Complete', complete_next: 'Complete and next', take: 'Take it', give_back: 'Give it back', send_link: 'Link', hand_over: 'Hand over', hand_over_title: (x: string) => `Hand over “${x}”`, hand_to: 'To whom', handed: (x: string) => `Handed over to ${x}.`, draft: (x: string) => `Draft saved ${x}`, changed: 'This task has changed meanwhile. Look again.', show: 'Show it',
    completed: (x: string) => `Completed “${x}”.`, completed_next: (x: string, y: string) => `Completed “${x}”. Next: “${y}”.`,
  },
  link: {
    title: (x: string) => `Link to “${x}”`, text: 'With the link one person answers this once, without an account and on a phone.', person: 'Who answers', lasts: 'Valid for', lifetimes: { '24h': 'one day', '72h': 'three days', '7d': 'a week', '30d': 'a month' }, make: 'Make link', made: (who: string, until: string) => `Send it to ${who}. It works once, until ${until}, and only as long as the task does not change.`, copy: 'Copy link', close: 'Done',
  },
  context: {
    label: 'About this task', where: 'Where this sits', where_label: (x: string) => `Where this task sits in ${x}`, about: 'About', workflow: 'Workflow', for: 'For', taken_by: 'Taken by', priority: 'Priority', due: 'Due', comments: 'Comments', add: 'Add a comment', send: 'Comment',
    events: { created: 'Asked', assigned: 'Taken', released: 'Given back', reassigned: 'Handed over', completed: 'Answered', cancelled: 'Closed', expired: 'Expired', reminded: 'Reminded' },
  },
  definitions: {
    deploy: 'Deploy', find: 'Find by name or title', no_match: 'No definition has this in its name', none: 'No definition is deployed', title: 'Title', name: 'Name', newest: 'Newest', versions: 'Versions', deployed: 'Deployed', start: 'Start', deploy_title: 'Deploy a definition', source: 'Source (YAML or JSON)', check: 'Only check',
    valid: (name: string, version: string) => `${name} ${version} is valid.`, done: (name: string, version: string) => `${name} ${version} is deployed.`,
  },
  definition: {
    open: (n: string) => `${n} open`, retire: 'Retire', tabs_label: 'Definition', tabs: { overview: 'Overview', source: 'Source' }, numbers: 'the numbers are instances at that step now', numbers_some: (n: number) => `the numbers are of the newest ${n} open instances`, diagram: (x: string, v: string) => `${x} ${v}, with the number of instances at each step`, versions: 'Versions', on_each: 'open instances on each',
    retired: 'retired', is_newest: 'newest, new ones start here', drains: 'drains by itself', nobody: 'no instance left', deployed: (x: string) => `deployed ${x}`, older: (n: string) => (n === '1' ? 'One instance still runs an older version. It finishes as it was started.' : `${n} instances still run older versions. They finish as they were started.`), changed_from: (v: string) => `What changed from ${v}`,
    summary: (changed: number, added: number, gone: number) => [changed && `${changed} changed`, added && `${added} new`, gone && `${gone} gone`].filter(Boolean).join(', ') || 'no step changed', kinds: { same: 'Same', changed: 'Changed', new: 'New', gone: 'Gone' },
    retire_title: (n: string, v: string) => `Retire ${n} ${v}?`, retire_text: 'It starts no new instances. Running ones finish.', retired_done: (n: string, v: string) => `${n} ${v} is retired.`,
  },
  start: { button: 'Start instance', title: 'Start', choose: 'What do you want to start?', title_of: (x: string) => `Start ${x}`, how: 'How to fill it in', form: 'Form', input: 'Input', go: 'Start', started: (x: string) => `${x} started.`, recent: 'Used before', no_recent: 'No instance has been started yet.' },
  schedules: {
    sub: 'what starts by itself', none: 'Nothing starts by itself', none_text: 'A schedule starts an instance or a run at given times.', name: 'Name', when: 'When', starts: 'Starts', next: 'Next', last: 'Last', status: 'Status', paused: 'Paused', active: 'Active', actions: (x: string) => `Actions for ${x}`, trigger: 'Run now', pause: 'Pause', resume: 'Resume', delete: 'Delete',
    fired: (x: string) => `${x} was started.`, deleted: (x: string) => `${x} is deleted.`, trigger_title: (x: string) => `Run ${x} now?`, trigger_text: 'It starts once, whatever its plan says. The plan stays.', delete_title: (x: string) => `Delete ${x}?`, delete_text: 'It starts nothing any more. What it started continues.', next_five: 'Next times',
  },
  runs: {
    sub: 'calls and work for workers', all: 'All', type: 'Type', status: 'Status', tries: 'Tries', error: 'Last error', instance: 'Instance', age: 'Age', none: 'No run', none_text: 'Runs appear when a workflow calls something or a program submits one.', again: (x: string) => `Again in ${x}`, actions: (x: string) => `Actions for ${x}`, cancel: 'Cancel run', cancel_title: (x: string) => `Cancel ${x}?`,
    cancel_text: 'The waiting step fails. A worker that has it learns this at its next heartbeat.', workers: 'Workers at work', no_workers: 'No worker has a run right now.', works_on: (n: string, types: string) => `${n} of ${types}`, types: 'Run types', no_types: 'None yet.', pause: 'Pause', resume: 'Resume', paused: 'paused', numbers: (a: number, b: number, c: number) => `${a} pending, ${b} at work, ${c} failed`, limit: (n: number) => `at most ${n} at once`,
  },
  dead: {
    sub: 'messages that could not be delivered', none: 'No dead letters', none_text: 'Every message reached its instance.', replay: (n: string) => `Deliver ${n} again`, discard: 'Discard', envelope: 'Message', replayed: (n: number) => `${n} delivered again.`, discarded: (n: number) => `${n} discarded.`, replay_title: (n: string) => `Deliver ${n} again?`, replay_text: 'They go back to their queue. Fix the cause first, or they come back.',
    discard_title: (n: string) => `Discard ${n}?`, discard_text: 'They are gone. This cannot be undone.',
  },
  events: { listening: 'listening', not_connected: 'not connected', paused: 'paused', find: 'Find by type or subject', none: 'No event yet', none_text: 'Events appear here the moment they are written.', chosen: 'Chosen event', instance: 'Instance', choose: 'Choose an event to see its data.' },
  audit: {
    sub: 'every change, who made it and why', verify: 'Verify', find: 'Find by person, action or reason', intact: (n: string) => `The trail is intact: ${n} rows.`, broken: (row: string, why: string) => `The trail is broken at row ${row}: ${why}`, none: 'No row', when: 'When', who: 'Who', did: 'Did', resource: 'What', why: 'Why', number: 'Row',
    what: {
      startInstance: 'started an instance', retryInstance: 'retried an instance', cancelInstance: 'cancelled an instance', suspendInstance: 'suspended an instance', resumeInstance: 'resumed an instance', skipStep: 'skipped a step', editState: 'edited a state', signalInstance: 'sent a signal', sendSignal: 'sent a signal', deleteInstance: 'deleted an instance', startBulk: 'started a bulk action',
      deployDefinition: 'deployed a definition', retireDefinition: 'retired a version', assignTask: 'took a task', releaseTask: 'gave a task back', reassignTask: 'handed a task over', completeTask: 'completed a task', commentTask: 'commented on a task', createKey: 'made a key', beginBulk: 'began a bulk action', pauseBulk: 'paused a bulk action', resumeBulk: 'continued a bulk action', cancelBulk: 'stopped a bulk action', createTaskLink: 'made a link to a task', giveAnswer: 'answered by a link', createEmbedToken: 'made a credential for a page', putAlert: 'set an alert', deleteAlert: 'removed an alert', putView: 'saved a view', deleteView: 'removed a view', revokeKey: 'revoked a key', createSchedule: 'made a schedule', changeSchedule: 'changed a schedule',
      deleteSchedule: 'deleted a schedule', pauseSchedule: 'paused a schedule', resumeSchedule: 'resumed a schedule', triggerSchedule: 'ran a schedule', replayDeadLetter: 'delivered a dead letter again', discardDeadLetter: 'discarded a dead letter', putRunType: 'changed a run type', cancelRun: 'cancelled a run', runRetention: 'ran the retention', 'retention.cancelInstance': 'cancelled a stale instance', 'retention.expireTask': 'ended a stale task', 'audit.export': 'exported old rows of the trail', receiveEvents: 'sent events', submitRun: 'submitted a run',
    },
  },
  keys: {
    sub: 'programs and people that may use this server', create: 'Create key', none: 'No key', none_text: 'This server does not ask who people are, or they sign in with their own accounts.', subject: 'For whom', roles: 'Roles', note: 'Note', created: 'Created', status: 'Status', revoke: 'Revoke', revoked: 'Revoked', expired: 'Expired', valid: 'Valid', until: (x: string) => `Until ${x}`, revoke_title: (x: string) => `Revoke the key of ${x}?`,
    revoke_text: 'Every request with it is refused within two seconds. This cannot be undone.', revoked_done: (x: string) => `The key of ${x} is revoked.`, made: 'Here is the key', kept_it: 'I have kept it', only_once: 'It is shown only now. No one can read it later, not even the server.', create_title: 'Create a key', task_roles: 'Roles in tasks', prefixes: 'Run types that begin with', expires: 'Lifetime', expires_help: 'Such as 90d. Empty: no end.',
    role_text: { viewer: 'reads everything', task_worker: 'answers tasks', starter: 'starts instances, sends signals', worker: 'does runs', operator: 'retries, cancels, edits', deployer: 'deploys definitions', admin: 'everything' },
  },
  system: {
    you: 'You', user: 'Name', roles: 'Roles', auth: 'Signed in', auths: { none: 'not needed on this server', session: 'in this browser, until you sign out', bearer: 'by the proxy before this server' }, may: 'May', here: 'This browser', theme: 'Theme', themes: { system: 'System', light: 'Light', dark: 'Dark' }, language: 'Language', zone: 'Times', zones: { local: 'Local' }, letters: 'Single-letter keys', on: 'On', off: 'Off',
    server: 'Server', version: 'Version', node: 'Node', time: 'Its time', memory: 'Memory', descriptors: 'Open files', connections: 'Connections', requests_waiting: 'Requests waiting', work: 'Work', metrics: 'All metrics', suspended: 'Suspended instances', failed: 'Failed instances', tasks: 'Open tasks', ready: 'Runs without a worker', ready_age: 'Oldest of them', messages: 'Messages waiting', timers_late: 'Timers late', outbox: 'Events to publish', dead: 'Dead letters',
    retention: 'Retention', retention_text: 'The server removes old data as its settings keep.* say. You can remove more now.', retention_run: 'Run retention', retention_title: 'Remove old data now?', retention_ask: 'What you choose here is removed for good.', retention_what: 'What to remove', retention_age: 'Older than', retention_kinds: { completed: 'completed instances', failed: 'failed instances', cancelled: 'cancelled instances', runs: 'finished runs without an instance', deleted_runs: 'deleted runs', run_events: 'events of runs', dead_letters: 'dead letters without an open instance', outbox: 'published events', keys: 'idempotency keys', audit: 'audit rows (exported first)', stale_tasks: 'stale tasks (they end)', stale_instances: 'stale instances (they are cancelled)' }, retention_done: 'Retention has run.',
  },
  approve: {
    title: 'A question for you', loading: 'One moment…', yes: 'Yes', no: 'No', approve: 'Approve', decline: 'Decline', send: 'Send answer', asks_approval: 'asks for your approval', asks: 'asks for your answer', you_are_asked: 'Your answer is needed', for_you: (x: string) => `for ${x}`,
    steps: 'What happens', your_decision: 'Your decision', your_answer: 'Your answer', please_by: (x: string) => `please answer by ${x}`, kept: 'Your answer is kept with your name.', fix: 'Please look at the marked fields.', not_taken: (x: string) => `Your answer was not taken: ${x}.`,
    thanks: (x: string) => `Thank you. Your answer: ${x}.`, thanks_text: (x: string) => `Your answer has arrived, and the request of ${x} continues. You can close this page.`, answered: 'This was answered already', answered_text: (who: string, at: string) => `${who ? `${who} answered` : 'It was answered'} ${at}. There is nothing left to do.`,
    expired: 'This link has expired', expired_text: 'Ask the sender for a new one. The question is still open.', changed: 'This has changed since the link was sent', changed_text: 'Ask the sender for a new link, so that you decide about the current request.', closed: 'This question is closed', closed_text: 'Your answer is no longer needed.',
    unknown: 'This link does not work', unknown_text: 'It may be cut off. Open it again from the message, or ask the sender for a new one.', away: 'No connection', away_text: 'The server cannot be reached at the moment. Nothing was lost.', again: 'Try again',
  },
  embed: { loading: 'One moment…', expired: 'This part of the page needs a new sign-in. Reload the page.', away: 'The server cannot be reached. It is retried.', nothing: 'Nothing waits for you.' },
  unknown: { title: 'There is no such page', text: 'The address may be cut off, or the page has moved.' },
};

export type Words = typeof en;
