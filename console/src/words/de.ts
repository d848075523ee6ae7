// Die deutschen Wörter der Konsole, in derselben Form wie en.ts.
import type { Words } from './en';

export const de: Words = {
  common: {
    copied: 'Kopiert', copy_failed: 'Der Browser erlaubt das Kopieren hier nicht', copy_command: 'Befehl kopieren', copy_id: 'Kennung kopieren', loading: 'Wird geladen',
    not_found: 'Das gibt es nicht', forbidden: 'Das dürfen Sie nicht sehen', broken: 'Das hat nicht geklappt', try_again: 'Noch einmal versuchen', no_answer: 'Der Server antwortet nicht.', not_now: 'Nicht jetzt',
  },
  status: {
    running: 'Läuft', person: 'Wartet auf eine Person', time: 'Wartet auf einen Zeitpunkt', event: 'Wartet auf ein Ereignis', retrying: 'Versucht es erneut', suspended: 'Angehalten', completed: 'Abgeschlossen', failed: 'Gescheitert',
    cancelled: 'Abgebrochen', waiting: 'Wartet', try_of: (n, of) => `Versuch ${n} von ${of}`, n_of: (n, of) => `${n} von ${of}`,
  },
  task_status: { open: 'offen', assigned: 'übernommen', completed: 'beantwortet', cancelled: 'abgebrochen', expired: 'abgelaufen' },
  run_status: { pending: 'Bereit', leased: 'In Arbeit', succeeded: 'Gelungen', failed: 'Gescheitert', cancelled: 'Abgebrochen' },
  time: { ago: (x) => `vor ${x}`, in: (x) => `in ${x}`, left: (x) => `noch ${x}`, overdue: (x) => `${x} überfällig` },
  nav: {
    main: 'Hauptnavigation', small: 'Hauptnavigation, kleiner Bildschirm', home: 'Übersicht', instances: 'Instanzen', inbox: 'Aufgaben', definitions: 'Definitionen', schedules: 'Zeitpläne', operate: 'Betrieb', dead_letters: 'Unzustellbares', errors: 'Fehler', alerts: 'Alarme', batches: 'Sammelaktionen',
    runs: 'Läufe und Worker', events: 'Ereignisse', audit: 'Protokoll', keys: 'Schlüssel', system: 'System', more: 'Mehr',
  },
  shell: {
    skip: 'Zum Inhalt springen', where: 'Wo Sie sind', palette: 'Kennung einfügen, Referenz finden, Befehl ausführen', live: 'Live', polling: 'Abfrage', paused: 'Pausiert',
    live_title: 'Änderungen kommen sofort an. Klicken zum Anhalten.', polling_title: 'Kein Ereignisstrom; die Seite fragt alle paar Sekunden.', theme: 'Zum anderen Farbschema wechseln', help: 'Tastatur und Hilfe',
    account: (name) => `Konto von ${name}`, show_utc: 'Zeiten in UTC zeigen', show_local: 'Ortszeit zeigen', sign_out: 'Abmelden', act_as: 'Als jemand anderes handeln',
    act_as_title: 'Als jemand anderes handeln', act_as_text: 'Dieser Server fragt niemanden, wer er ist. Geben Sie einen Namen an, um Aufgaben zu beantworten, die nur bestimmte Personen dürfen. Leer lassen heißt: niemand Bestimmtes.', act_as_name: 'Name', act_as_save: 'Diesen Namen nehmen',
  },
  away: {
    title: 'Der Server antwortet nicht', text: 'Die Konsole fragt alle drei Sekunden nach. Prüfen Sie, ob cairn läuft, und den Proxy davor.', now: 'Jetzt versuchen',
    since: (time) => `Keine Verbindung zum Server seit ${time}. Sie sehen den letzten bekannten Stand.`, next: (seconds) => `Nächster Versuch in ${seconds} s.`,
  },
  sign_in: {
    title: 'Anmelden', text: 'Nehmen Sie einen API-Schlüssel dieses Servers. Er steht in einem Cookie, das Skripte nicht lesen können.', lost_title: 'Ihre Sitzung ist zu Ende', lost_text: 'Sie haben sich anderswo abgemeldet, oder der Schlüssel wurde widerrufen oder ist abgelaufen. Melden Sie sich an, um weiterzumachen.',
    account: 'Mit Ihrem Konto anmelden', or_key: 'Oder nehmen Sie einen API-Schlüssel dieses Servers.', not_signed_in: 'Ihr Konto wurde nicht angenommen. Versuchen Sie es noch einmal, oder bitten Sie um eine Rolle auf diesem Server.',
    key: 'API-Schlüssel', help: 'Sie haben keinen? Wer den Server verwaltet, erstellt ihn mit', go: 'Anmelden', empty: 'Fügen Sie hier Ihren API-Schlüssel ein.', wrong: 'Der Server kennt diesen Schlüssel nicht. Er kann widerrufen, abgelaufen oder abgeschnitten sein.',
  },
  help: {
    title: 'Tastatur und Hilfe', documentation: 'Dokumentation dieser Version (englisch)', close: 'Schließen', letters: 'Einzelne Buchstaben als Befehle benutzen',
    keys: [
      ['Ctrl K', 'Befehlspalette'], ['g h', 'zur Übersicht'], ['g i', 'zu den Instanzen'], ['g t', 'zu den Aufgaben'], ['g d', 'zu den Definitionen'], ['g s', 'zu den Zeitplänen'], ['g w', 'zu Läufen und Workern'], ['/', 'filtern'], ['j k', 'nächste und vorige Zeile'],
      ['x', 'Zeile auswählen'], ['Enter', 'Zeile öffnen oder ins Formular gehen'], ['[ ]', 'vorige und nächste Instanz'], ['← →', 'voriges und nächstes Ereignis'], ['v', 'Diagramm als Text'], ['r', 'erneut versuchen'], ['e', 'Zustand bearbeiten'], ['c', 'Instanz abbrechen'],
      ['a', 'Aufgabe übernehmen'], ['Ctrl Enter', 'abschließen und weiter'], ['l', 'live oder pausiert'], ['t', 'anderes Farbschema'], ['Esc', 'zurück'], ['?', 'diese Hilfe'],
    ],
  },
  palette: {
    label: 'Befehlspalette', found: 'Gefunden', go: 'Gehe zu', do: 'Tun', start: 'Starten', recent: 'Zuletzt gesehen', task: 'Aufgabe', run: 'Lauf', nothing: 'Nichts hat diesen Namen oder diese Kennung.', list_all: (x) => `Alle Instanzen mit „${x}“ zeigen`,
    start_one: (x) => `${x} starten`, pause_live: 'Live-Anzeige anhalten', go_live: 'Live-Anzeige fortsetzen',
  },
  filter: {
    label: 'Filter', add: 'Filter hinzufügen', placeholder: 'status:suspended definition:loan.approval ref:L-1047 from:2026-11-01', offers: 'Vorschläge', remove: (x) => `${x} entfernen`,
    names: { status: 'Status', definition: 'Ablauf', version: 'Version', ref: 'Referenz', parent: 'gestartet von', from: 'gestartet ab', to: 'gestartet vor', step: 'Schritt', error: 'Fehler', deleted: 'gelöscht' },
  },
  views: { label: 'Gespeicherte Ansichten', all: 'Alle', attention: 'Braucht Sie', retrying: 'Versucht es erneut', waiting: 'Wartet', failed: 'Gescheitert', save: 'Ansicht speichern', forget: 'Ansicht vergessen', alert: 'Alarm setzen', save_title: 'Diese Ansicht speichern', name: 'Name', share: 'Mit allen auf diesem Server teilen', of: (x) => `Geteilt von ${x}` },
  instances: {
    shown: (n, more) => (more ? `${n} geladen, weiter unten mehr` : n === '1' ? '1 Instanz' : `${n} Instanzen`), choose_columns: 'Spalten', reference: 'Referenz', select_page: 'Alle geladenen Zeilen auswählen', select_one: (x) => `${x} auswählen`,
    columns: { workflow: 'Ablauf', status: 'Status', where: 'Wo es steht', since: 'Seit', next: 'Was als Nächstes geschieht', started: 'Gestartet', id: 'Kennung' },
    fresh: (n) => (n === 1 ? '1 neue' : `${n} neue`), nothing: (n) => (n === 1 ? 'Keine Instanz passt zu diesem Filter' : `Keine Instanz passt zu allen ${n} Filtern`), none: 'Noch keine Instanz', none_text: 'Starten Sie eine, oder senden Sie eine Anfrage an POST /v1/instances.',
    without: (x) => `Ohne „${x}“ gibt es welche.`, drop: 'Diesen Filter weglassen', selected: (n) => `${n} ausgewählt`, all_selected: 'Alle passenden sind ausgewählt', select_all: 'Alle passenden auswählen', copy_curl: 'Als curl kopieren',
    where_task: (x) => `${x}: wartet auf eine Antwort`, where_signal: (x) => `Wartet auf ${x}`, where_time: (x) => `${x}: wartet auf den Zeitpunkt`, where_child: (x) => `${x}: wartet auf einen anderen Ablauf`,
    until_you_act: 'Steht, bis Sie handeln', try_in: (n, x) => `Versuch ${n} in ${x}`, try_now: (n) => `Versuch ${n} jeden Moment`, trying: (n) => `Versuch ${n} läuft`, timer: (x) => `Zeitgeber ${x}`, held: 'Von Hand angehalten',
  },
  bulk: {
    verbs: {
      retry: { do: 'Erneut versuchen:', doing: 'Erneuter Versuch:', done: 'Erneut versucht:' }, resume: { do: 'Fortsetzen:', doing: 'Wird fortgesetzt:', done: 'Fortgesetzt:' }, suspend: { do: 'Anhalten:', doing: 'Wird angehalten:', done: 'Angehalten:' },
      cancel: { do: 'Abbrechen:', doing: 'Wird abgebrochen:', done: 'Abgebrochen:' }, delete: { do: 'Löschen:', doing: 'Wird gelöscht:', done: 'Gelöscht:' },
    },
    title: (verb, n) => `${verb} ${n} ${n === '1' ? 'Instanz' : 'Instanzen'}?`, working: (verb, n) => `${verb} ${n}`, finished: (verb, n, of) => `${verb} ${n} von ${of}`,
    frozen: 'Die Liste steht fest: Was ab jetzt hinzukommt, bleibt unberührt. Der Server macht die Arbeit, auch wenn Sie diese Seite schließen.', counting: 'Wird gezählt …', paused: 'Angehalten', stop: 'Beenden', results: 'Ergebnisse', in_background: 'Im Hintergrund weiter',
    how_many: 'Wie viele', first: 'Zuerst', filter: 'Filter', everything: 'alles', same_as: 'Kopieren als', try_five: 'Erst mit 5 versuchen', pause: 'Anhalten', go_on: 'Weiter', close: 'Schließen', rest: (verb, n) => `${verb} die anderen ${n}`,
    progress: (n, of, failed) => `${n} von ${of} erledigt${failed === '0' ? '' : `, ${failed} haben nicht geklappt`}.`, failed_list: 'Was nicht geklappt hat',
  },
  home: {
    needs: (n) => (n === 1 ? 'Ein Fehler braucht eine Entscheidung.' : `${n} Fehler brauchen eine Entscheidung.`), late: (n) => (n === 1 ? 'Meist ruhig. Eine Aufgabe ist überfällig.' : `Meist ruhig. ${n} Aufgaben sind überfällig.`), retry_only: 'Meist ruhig. Einige Aufrufe scheitern und versuchen es selbst erneut.', calm: 'Alles ruhig. Nichts braucht Sie.',
    range: 'Zeitraum', ranges: { '1h': '1 Std.', '24h': '24 Std.', '7d': '7 T' }, attention: 'Braucht Sie', one_row: 'derselbe Fehler am selben Schritt ist eine Zeile', all_errors: (n) => `Alle Fehler (${n})`, instances_with: (n) => `${n} Instanzen mit diesem Fehler`, example: 'Beispiel', last: (x) => `zuletzt ${x}`, hold: (n) => `${n} anhalten`, nothing_wrong: 'Kein Fehler an irgendeinem Schritt.',
    throughput: 'Durchsatz', started_finished: (a, b) => `${a} gestartet, ${b} beendet`, chart: 'Gestartete und beendete Instanzen über die Zeit', started: 'gestartet', finished: 'beendet', now: 'jetzt', per: (x) => `je ${x}`, out_of_time: 'Überfällig', since: (x) => `seit ${x}`,
    fix: 'Beheben und weiter', retry: (n) => `${n} erneut versuchen`, open: 'Öffnen', by_themselves: (x) => (x ? `Versucht es selbst erneut; das nächste in ${x}.` : 'Versucht es selbst erneut.'), waiting_longest: 'Wartet auf Personen', people_first: 'das Dringendste zuerst', nobody_waits: 'Keine Aufgabe ist offen.', nobody_took: 'niemand hat sie übernommen',
    for_no_limit: (x) => `${x}, ohne Frist`, changed: 'Was sich geändert hat', deployed: (x) => `eingespielt ${x}`,
    tiles: {
      running: 'Läuft', started: (n) => `${n} in der letzten Minute gestartet`, people: 'Wartet auf Personen', overdue: (n) => (n === '1' ? '1 ist überfällig' : `${n} sind überfällig`), none_overdue: 'nichts ist überfällig', retrying: 'Versucht es erneut', by_itself: 'geht von selbst weiter', suspended: 'Angehalten',
      need_you: 'brauchen Sie', need_nobody: 'nichts steht', dead: 'Unzustellbares', look: 'kam nicht an', all_delivered: 'alles kam an', ready: 'Läufe ohne Worker', oldest: (x) => `der älteste wartet ${x}`, taken_at_once: 'sofort übernommen',
    },
  },
  errors: {
    sub: (n, of) => (n === '1' ? `ein Fehler in ${of} Instanzen` : `${n} Fehler in ${of} Instanzen`), workflow: 'Ablauf', every_workflow: 'Jeder Ablauf', which: 'Welche Fehler', states: { all: 'Alle', suspended: 'Angehalten', retrying: 'Wird erneut versucht', failed: 'Gescheitert' }, none_text: 'Fehler erscheinen hier von selbst, für jeden eine Zeile.',
    newest_only: 'Nur die neuesten Instanzen wurden gelesen; es können mehr sein.',
  },
  alerts: {
    sub: 'wenn zu viele Instanzen einem Filter entsprechen', create: 'Alarm setzen', none: 'Noch kein Alarm', none_text: 'Ein Alarm schickt ein signiertes Ereignis an Ihre Webhooks, wenn einem Filter mehr Instanzen entsprechen, als Sie erlauben.', name: 'Name', status: 'Status', when: 'Wann', filter: 'Filter', owner: 'Gesetzt von', remove: 'Entfernen', raised: 'Ausgelöst', counting: 'Zu viele, noch nicht lange genug', quiet: 'Ruhig',
    more: (n) => `mehr als ${n}`, more_for: (n, time) => `mehr als ${n}, ${time} lang`, filter_help: 'Dieselben Wörter wie in der Liste der Instanzen.', most: 'Mehr als', lasts: 'Mindestens so lange', lasts_help: 'Etwa 5m. Leer: sofort.',
  },
  batches: {
    sub: 'eine Aktion für viele Instanzen', none: 'Noch keine Sammelaktion', none_text: 'Wählen Sie Instanzen in der Liste und handeln Sie für alle auf einmal.', what: 'Was', status: 'Status', progress: 'Fortschritt', who: 'Wer', why: 'Warum', when: 'Wann', failed: (n) => `${n} haben nicht geklappt`, items: 'Instanzen', instance: 'Instanz', outcome: 'Ergebnis', detail: 'Einzelheit', more: 'Mehr zeigen',
    states: { preview: 'Vorschau', running: 'Läuft', paused: 'Angehalten', cancelled: 'Beendet', finished: 'Fertig' }, outcomes: { pending: 'Noch nicht', done: 'Erledigt', failed: 'Hat nicht geklappt' },
  },
  first: {
    title: 'cairn ist bereit. Drei Klicks zum Ausprobieren.', text: 'Starten Sie einen Ablauf, beantworten Sie seine Frage, sehen Sie, was geschah. Alles bleibt erhalten.', text_empty: 'Es gibt noch keine Definition. Spielen Sie eine Datei ein und starten Sie sie.', one: (x) => `„${x}“ starten`, one_none: 'Eine Definition einspielen', one_text: 'Füllen Sie ein kleines Formular aus, das aus der Datei entsteht, und sehen Sie dem Diagramm zu.', one_button: 'Starten',
    two: 'Antworten als die gefragte Person', two_text: 'Die Frage steht in Ihren Aufgaben, mit einem Formular aus ein paar Zeilen der Datei.', two_button: 'Aufgaben öffnen', three: 'Sehen, wie es gemacht ist', three_text: 'Jede Definition hat ein Diagramm, ihren Quelltext und den Unterschied zur Version davor.', three_button: 'Definitionen ansehen',
    terminal: 'Oder im Terminal', start_one: 'eine starten', see_waiting: 'sehen, was wartet', deploy: 'eine Datei einspielen', ready: 'Bereit zum Start', all: (n) => `Alle ${n}`, is_ready: 'bereit', no_definition: 'Keine Definition ist eingespielt.',
  },
  instance: {
    started: 'gestartet', ended: 'beendet', by: (x) => `von ${x}`, copy_as: 'Kopieren als', more: 'Weitere Aktionen', before: 'Vorige Instanz', after: 'Nächste Instanz', view: 'Ansicht des Diagramms', views: { follow: 'Folgen', fit: 'Ganz', text: 'Text' }, diagram: (x) => `Diagramm von ${x}. Die Pfeiltasten gehen von Schritt zu Schritt.`,
    no_diagram: 'Der Server konnte diese Definition nicht zeichnen.', details: 'Einzelheiten', tabs: { dock: 'Zeitachse, Verlauf, Zustand', tasks: 'Aufgaben', family: 'Familie', raw: 'Rohdaten' }, panes: { timeline: 'Zeitachse', history: 'Verlauf', state: 'Zustand' }, event_before: 'Ereignis davor', event_after: 'Ereignis danach',
    event_of: (n, of) => `Ereignis ${n} von ${of}, ein Zeiger für alles`, short: 'Kurz', full: 'Voll', state_now: 'Zustand jetzt', compared_output: 'mit dem Ergebnis', state_version: (n) => `Version ${n}`, output: 'Ergebnis', no_tasks: 'Diese Instanz hat niemanden etwas gefragt.', parent: 'Gestartet von', no_family: 'Niemand hat sie gestartet, und sie hat niemanden gestartet.', same_part: (x) => `Alle Instanzen mit gleichem ${x}`,
  },
  why: {
    label: 'Warum es nicht weitergeht', stopped: (step, code) => `Steht bei „${step}“: ${code}. Es geht weiter, wenn Sie handeln.`, held: (who) => `${who || 'Jemand'} hat sie angehalten.`, because: (x) => `Grund: ${x}`, held_more: 'Sie geht unverändert weiter, wenn jemand sie fortsetzt.',
    failed: (step, code) => (step ? `Ohne Erfolg beendet bei „${step}“: ${code}.` : `Ohne Erfolg beendet: ${code}.`), retrying: (step, n, of) => `„${step}“ ist ${n} von ${of} Mal gescheitert und versucht es selbst erneut.`, next_try: (x) => `nächster Versuch in ${x}`, deadline: (when) => `Wenn bis ${when} niemand antwortet, geht es ohne Antwort weiter.`, reminder: (when) => `Eine Erinnerung geht ${when} hinaus.`, timer: (step, when) => `„${step}“ wartet nur bis ${when}.`,
    person: 'jemanden', person_with: (x) => `eine Person mit der Rolle ${x}`, task: (who, what) => `Wartet auf ${who}: „${what}“.`, task_taken: (x) => `${x} hat es übernommen.`, task_open: (x) => `Seit ${x} hat es niemand übernommen.`, no_limit: 'Es gibt keine Frist.',
    signal: (name, key, x) => `Wartet seit ${x} auf das Signal ${name}${key ? ` mit dem Schlüssel ${key}` : ''}.`, time: (step, when) => `„${step}“ wartet bis ${when}.`, time_left: (x) => `Es geht in ${x} von selbst weiter.`, child: (step) => `„${step}“ wartet auf das Ende eines anderen Ablaufs.`,
    running_by: (step, who) => `An „${step}“ wird gearbeitet${who ? `, von ${who}` : ''}.`, lease: (x) => `Die Ausleihe endet ${x}.`, no_worker: (step, type) => `„${step}“ wartet auf einen Worker, der ${type} übernimmt.`, since: (x) => `seit ${x}`, skip: 'Schritt überspringen', edit: 'Zustand bearbeiten', retry: 'Jetzt erneut versuchen', resume: 'Fortsetzen', open_task: 'Aufgabe öffnen',
    send_signal: 'Signal senden', open_child: 'Anderen Ablauf öffnen', see_run: 'Lauf ansehen', see_workers: 'Worker ansehen',
  },
  actions: {
    reason: 'Grund', kept: 'Steht im Protokoll.', moved: 'Die Instanz ist inzwischen weitergegangen. Sehen Sie noch einmal hin und entscheiden Sie dann.', signal_name: 'Signal', signal_key: 'Schlüssel', signal_payload: 'Inhalt', skip_result: 'Ergebnis des übersprungenen Schritts',
    retry: { menu: 'Jetzt erneut versuchen', title: (x) => `${x} erneut versuchen?`, text: 'Der gescheiterte Schritt läuft noch einmal, mit dem jetzigen Zustand.', button: 'Erneut versuchen', done: (x) => `${x} läuft wieder.` },
    skip: { menu: 'Gescheiterten Schritt überspringen', title: (x) => `Den gescheiterten Schritt von ${x} überspringen?`, text: 'Der Ablauf geht weiter, als hätte der Schritt dieses Ergebnis geliefert.', button: 'Schritt überspringen', done: (x) => `${x} geht nach dem Schritt weiter.` },
    suspend: { menu: 'Anhalten', title: (x) => `${x} anhalten?`, text: 'Sie hält vor dem nächsten Schritt, bis jemand sie fortsetzt. Fristen laufen weiter.', button: 'Anhalten', done: (x) => `${x} ist angehalten.` },
    resume: { menu: 'Fortsetzen', title: (x) => `${x} fortsetzen?`, text: 'Sie geht unverändert weiter.', button: 'Fortsetzen', done: (x) => `${x} geht weiter.` },
    cancel: { menu: 'Instanz abbrechen', title: (x) => `${x} abbrechen?`, text: 'Sie endet jetzt, mit den Abläufen, die sie gestartet hat. Offene Aufgaben werden geschlossen. Das lässt sich nicht zurücknehmen.', button: 'Instanz abbrechen', done: (x) => `${x} ist abgebrochen.` },
    signal: { menu: 'Signal senden', title: (x) => `Ein Signal an ${x} senden`, text: 'Wartet die Instanz nicht darauf, wird das Signal aufbewahrt, bis sie es tut.', button: 'Signal senden', done: (x) => `Das Signal ging an ${x}.` },
    delete: { menu: 'Löschen', title: (x) => `${x} löschen?`, text: 'Sie verschwindet aus den Listen. Das Protokoll bleibt.', button: 'Löschen', done: (x) => `${x} ist gelöscht.` },
  },
  edit: {
    button: 'Zustand bearbeiten', title: (x) => `Zustand von ${x} bearbeiten`, state: 'Zustand', changes: 'Was sich ändert', no_changes: 'Noch nichts.', object: 'Der Zustand muss ein Objekt sein.', why_missing: 'Sagen Sie, warum Sie ihn ändern. Der Grund steht im Protokoll.', save: 'Speichern', save_retry: 'Speichern und erneut versuchen', saved: (x) => `Der Zustand von ${x} ist geändert.`,
    retried: (x) => `Der Zustand von ${x} ist geändert, und der Schritt läuft noch einmal.`,
  },
  history: {
    label: 'Verlauf', idle: (x) => `${x} lang geschah nichts`, started: (who) => `Gestartet von ${who}`, waiting: (step) => `${step} begann zu warten`, step_done: (step) => `${step} erledigt`, completed: 'Abgeschlossen', faulted: (step, code) => `${step} gescheitert: ${code}`, stopped: (step) => `Steht bei ${step}`,
    suspended: (who) => `Angehalten von ${who}`, resumed: (who) => `Fortgesetzt von ${who}`, skipped: (step, who) => `${step} übersprungen von ${who}`, cancelled: (who) => `Abgebrochen von ${who}`, edited: (who) => `Zustand bearbeitet von ${who}`,
  },
  timeline: { label: 'Zeitachse', now: 'jetzt', nothing: 'Noch hat nichts gewartet.', tries: (n, of) => `Versuch ${n} von ${of}` },
  inspector: {
    label: 'Ausgewählter Schritt', choose: 'Wählen Sie einen Schritt im Diagramm.', step: 'Schritt', who_may: 'Wer darf', anybody: 'alle', not: 'Nicht', taken_by: 'Übernommen von', nobody: 'noch niemand', due: 'Fällig', answered_by: 'Beantwortet von', signal: 'Signal', key: 'Schlüssel', since: 'Seit', took: 'Dauer', until: 'Bis', events: 'Ereignisse', error: 'Letzter Fehler',
    person_sees: 'Was die Person sieht', child: 'Anderen Ablauf öffnen', open_task: 'Aufgabe öffnen', copy_step: 'Kennung des Schritts kopieren', call: 'Aufruf', type: 'Art', tries: 'Versuche', next_try: 'Nächster Versuch', worker: 'Worker', last_error: 'Letzter Fehler',
  },
  diagram: {
    as_text: 'Das Diagramm als Text', here: (x) => `${x} hier`,
    shapes: { action: 'Aufruf', data: 'Änderung von Daten', task: 'Aufgabe für Personen', wait: 'Warten', signal: 'Signal', subworkflow: 'Anderer Ablauf', collapsed: 'Block', event: 'Ereignis', decision: 'Entscheidung', race: 'Das Erste von mehreren', header: 'Block', complete: 'Ende', fail: 'Scheitern', start: 'Anfang', end: 'Ende', bar: 'Parallel', undo: 'Rücknahme' },
    states: { done: 'Erledigt', current: 'Jetzt hier', waiting: 'Wartet', failing: 'Scheitert gerade', failed: 'Gescheitert', skipped: 'Übersprungen', 'not reached': 'Nicht erreicht' },
  },
  json: { nothing: 'Leer.', others: 'Alle Instanzen mit diesem Wert', large: (kb) => `${kb} KB. Das ist der Anfang.`, download: 'Alles herunterladen' },
  form: {
    json: 'JSON', optional: '(freiwillig)', yes: 'Ja', no: 'Nein', choose_one: 'Bitte wählen', add: 'Hinzufügen', remove: (n) => `Nummer ${n} entfernen`, between: (a, b) => `Zwischen ${a} und ${b}`, no_json: (x) => `Das ist kein JSON: ${x}.`,
    required: 'Bitte ausfüllen.', number: 'Das ist keine Zahl.', short: (n) => `Mindestens ${n} Zeichen.`, long: (n) => `Höchstens ${n} Zeichen.`, least: (x) => `Mindestens ${x}.`, most: (x) => `Höchstens ${x}.`, pattern: 'Das hat nicht die erwartete Form.', choose: 'Wählen Sie eines davon.', format: 'Das hat nicht die erwartete Form.',
  },
  inbox: {
    sub: (n, late) => `${n === 0 ? 'nichts' : n} für Sie${late ? `, ${late} überfällig` : ''}`, filter: 'Filter', by_due: 'Dringendstes zuerst', newest: 'Neuestes zuerst', which: 'Welche Aufgaben', tabs: { all: 'Für mich und meine Gruppen', mine: 'Meine', open: 'Nicht übernommen', done: 'Erledigt' }, next_previous: 'nächste und vorige', list: 'Aufgaben',
    empty: { all: 'Nichts wartet auf Sie', mine: 'Sie haben keine Aufgabe übernommen', open: 'Alle Aufgaben sind übernommen', done: 'Noch keine Aufgabe beantwortet' }, empty_text: 'Neue Aufgaben erscheinen hier von selbst.', no_limit: 'ohne Frist', you: 'Sie', anybody: 'alle',
  },
  task: {
    back: 'Zurück zur Liste', since: (x) => `Gefragt ${x}.`, closed: (status, who) => `Sie ist ${status}${who ? ` von ${who}` : ''}.`, yours: 'Sie haben sie übernommen.', taken: (x) => `${x} hat sie übernommen.`, not_taken: 'Niemand hat sie übernommen.', used: (n) => `${n} Prozent der Zeit sind verbraucht`, no_form: 'Diese Aufgabe verlangt nur Ihre Zustimmung.', fix: (n) => (n === 1 ? '1 Feld braucht Ihre Aufmerksamkeit.' : `${n} Felder brauchen Ihre Aufmerksamkeit.`),
    complete: 'Abschließen', complete_next: 'Abschließen und weiter', take: 'Übernehmen', give_back: 'Zurückgeben', send_link: 'Link', hand_over: 'Weitergeben', hand_over_title: (x) => `„${x}“ weitergeben`, hand_to: 'An wen', handed: (x) => `An ${x} weitergegeben.`, draft: (x) => `Entwurf gespeichert ${x}`, changed: 'Jemand hat diese Aufgabe inzwischen geändert. Sehen Sie noch einmal hin.', show: 'Zeigen',
    completed: (x) => `„${x}“ abgeschlossen.`, completed_next: (x, y) => `„${x}“ abgeschlossen. Als Nächstes: „${y}“.`,
  },
  link: {
    title: (x) => `Link zu „${x}“`, text: 'Mit dem Link antwortet eine Person einmal, ohne Konto und auf dem Telefon.', person: 'Wer antwortet', lasts: 'Gültig für', lifetimes: { '24h': 'einen Tag', '72h': 'drei Tage', '7d': 'eine Woche', '30d': 'einen Monat' }, make: 'Link erstellen', made: (who, until) => `Schicken Sie ihn an ${who}. Er gilt einmal, bis ${until}, und nur solange sich die Aufgabe nicht ändert.`, copy: 'Link kopieren', close: 'Fertig',
  },
  context: {
    label: 'Über diese Aufgabe', where: 'Wo sie steht', where_label: (x) => `Wo diese Aufgabe in ${x} steht`, about: 'Angaben', workflow: 'Ablauf', for: 'Für', taken_by: 'Übernommen von', priority: 'Priorität', due: 'Fällig', comments: 'Kommentare', add: 'Kommentar hinzufügen', send: 'Kommentieren',
    events: { created: 'Gefragt', assigned: 'Übernommen', released: 'Zurückgegeben', reassigned: 'Weitergegeben', completed: 'Beantwortet', cancelled: 'Geschlossen', expired: 'Abgelaufen', reminded: 'Erinnert' },
  },
  definitions: {
    deploy: 'Einspielen', find: 'Nach Name oder Titel suchen', no_match: 'Keine Definition heißt so', none: 'Keine Definition ist eingespielt', title: 'Titel', name: 'Name', newest: 'Neueste', versions: 'Versionen', deployed: 'Eingespielt', start: 'Starten', deploy_title: 'Eine Definition einspielen', source: 'Quelltext (YAML oder JSON)', check: 'Nur prüfen',
    valid: (name, version) => `${name} ${version} ist gültig.`, done: (name, version) => `${name} ${version} ist eingespielt.`,
  },
  definition: {
    open: (n) => `${n} offen`, retire: 'Zurückziehen', tabs_label: 'Definition', tabs: { overview: 'Übersicht', source: 'Quelltext' }, numbers: 'die Zahlen sind Instanzen, die jetzt an diesem Schritt stehen', numbers_some: (n) => `die Zahlen sind von den neuesten ${n} offenen Instanzen`, diagram: (x, v) => `${x} ${v}, mit der Zahl der Instanzen an jedem Schritt`, versions: 'Versionen', on_each: 'offene Instanzen auf jeder',
    retired: 'zurückgezogen', is_newest: 'neueste, neue beginnen hier', drains: 'läuft von selbst aus', nobody: 'niemand mehr', deployed: (x) => `eingespielt ${x}`, older: (n) => (n === '1' ? 'Eine Instanz läuft noch auf einer älteren Version. Sie endet, wie sie begann.' : `${n} Instanzen laufen noch auf älteren Versionen. Sie enden, wie sie begannen.`), changed_from: (v) => `Was sich seit ${v} geändert hat`,
    summary: (changed, added, gone) => [changed && `${changed} geändert`, added && `${added} neu`, gone && `${gone} entfallen`].filter(Boolean).join(', ') || 'kein Schritt geändert', kinds: { same: 'Gleich', changed: 'Geändert', new: 'Neu', gone: 'Entfallen' },
    retire_title: (n, v) => `${n} ${v} zurückziehen?`, retire_text: 'Sie startet keine neuen Instanzen mehr. Laufende enden wie geplant.', retired_done: (n, v) => `${n} ${v} ist zurückgezogen.`,
  },
  start: { button: 'Instanz starten', title: 'Starten', choose: 'Was möchten Sie starten?', title_of: (x) => `${x} starten`, how: 'Wie ausfüllen', form: 'Formular', input: 'Eingabe', go: 'Starten', started: (x) => `${x} gestartet.`, recent: 'Schon benutzt', no_recent: 'Das hat noch niemand gestartet.' },
  schedules: {
    sub: 'was von selbst beginnt', none: 'Nichts beginnt von selbst', none_text: 'Ein Zeitplan startet zu bestimmten Zeiten eine Instanz oder einen Lauf.', name: 'Name', when: 'Wann', starts: 'Startet', next: 'Nächstes Mal', last: 'Letztes Mal', status: 'Status', paused: 'Pausiert', active: 'Aktiv', actions: (x) => `Aktionen für ${x}`, trigger: 'Jetzt ausführen', pause: 'Anhalten', resume: 'Fortsetzen', delete: 'Löschen',
    fired: (x) => `${x} wurde gestartet.`, deleted: (x) => `${x} ist gelöscht.`, trigger_title: (x) => `${x} jetzt ausführen?`, trigger_text: 'Es startet einmal, was auch immer der Plan sagt. Der Plan bleibt.', delete_title: (x) => `${x} löschen?`, delete_text: 'Er startet nichts mehr. Was er gestartet hat, läuft weiter.', next_five: 'Nächste Zeiten',
  },
  runs: {
    sub: 'Aufrufe und Arbeit für Worker', all: 'Alle', type: 'Art', status: 'Status', tries: 'Versuche', error: 'Letzter Fehler', instance: 'Instanz', age: 'Alter', none: 'Kein Lauf', none_text: 'Läufe erscheinen, wenn ein Ablauf etwas aufruft oder ein Programm einen einreicht.', again: (x) => `Erneut in ${x}`, actions: (x) => `Aktionen für ${x}`, cancel: 'Lauf abbrechen', cancel_title: (x) => `${x} abbrechen?`,
    cancel_text: 'Der wartende Schritt scheitert. Ein Worker, der ihn hat, erfährt es beim nächsten Lebenszeichen.', workers: 'Worker bei der Arbeit', no_workers: 'Kein Worker hat gerade einen Lauf.', works_on: (n, types) => `${n} von ${types}`, types: 'Arten von Läufen', no_types: 'Noch keine.', pause: 'Anhalten', resume: 'Fortsetzen', paused: 'pausiert', numbers: (a, b, c) => `${a} bereit, ${b} in Arbeit, ${c} gescheitert`, limit: (n) => `höchstens ${n} zugleich`,
  },
  dead: {
    sub: 'Nachrichten, die nicht ankamen', none: 'Nichts Unzustellbares', none_text: 'Jede Nachricht hat ihre Instanz erreicht.', replay: (n) => `${n} erneut zustellen`, discard: 'Verwerfen', envelope: 'Nachricht', replayed: (n) => `${n} erneut zugestellt.`, discarded: (n) => `${n} verworfen.`, replay_title: (n) => `${n} erneut zustellen?`, replay_text: 'Sie kommen zurück in ihre Schlange. Beheben Sie zuerst die Ursache, sonst kommen sie wieder.',
    discard_title: (n) => `${n} verwerfen?`, discard_text: 'Sie sind dann weg. Das lässt sich nicht zurücknehmen.',
  },
  events: { listening: 'hört zu', not_connected: 'nicht verbunden', paused: 'pausiert', find: 'Nach Art oder Gegenstand suchen', none: 'Noch kein Ereignis', none_text: 'Ereignisse erscheinen hier, sobald sie geschrieben sind.', chosen: 'Gewähltes Ereignis', instance: 'Instanz', choose: 'Wählen Sie ein Ereignis, um seine Daten zu sehen.' },
  audit: {
    sub: 'jede Änderung, von wem und warum', verify: 'Prüfen', find: 'Nach Person, Handlung oder Grund suchen', intact: (n) => `Das Protokoll ist unversehrt: ${n} Zeilen.`, broken: (row: string, why: string) => `Das Protokoll ist ab Zeile ${row} beschädigt: ${why}`, none: 'Keine Zeile', when: 'Wann', who: 'Wer', did: 'Tat', resource: 'Was', why: 'Warum', number: 'Zeile',
    what: {
      startInstance: 'startete eine Instanz', retryInstance: 'versuchte eine Instanz erneut', cancelInstance: 'brach eine Instanz ab', suspendInstance: 'hielt eine Instanz an', resumeInstance: 'setzte eine Instanz fort', skipStep: 'übersprang einen Schritt', editState: 'bearbeitete einen Zustand', signalInstance: 'sandte ein Signal', sendSignal: 'sandte ein Signal', deleteInstance: 'löschte eine Instanz', startBulk: 'begann eine Sammelaktion',
      deployDefinition: 'spielte eine Definition ein', retireDefinition: 'zog eine Version zurück', assignTask: 'übernahm eine Aufgabe', releaseTask: 'gab eine Aufgabe zurück', reassignTask: 'gab eine Aufgabe weiter', completeTask: 'schloss eine Aufgabe ab', commentTask: 'kommentierte eine Aufgabe', createKey: 'erstellte einen Schlüssel', beginBulk: 'begann eine Sammelaktion', pauseBulk: 'hielt eine Sammelaktion an', resumeBulk: 'setzte eine Sammelaktion fort', cancelBulk: 'beendete eine Sammelaktion', createTaskLink: 'erstellte einen Link zu einer Aufgabe', giveAnswer: 'antwortete über einen Link', createEmbedToken: 'erstellte einen Ausweis für eine Seite', putAlert: 'setzte einen Alarm', deleteAlert: 'entfernte einen Alarm', putView: 'speicherte eine Ansicht', deleteView: 'entfernte eine Ansicht', revokeKey: 'widerrief einen Schlüssel', createSchedule: 'erstellte einen Zeitplan', changeSchedule: 'änderte einen Zeitplan',
      deleteSchedule: 'löschte einen Zeitplan', pauseSchedule: 'hielt einen Zeitplan an', resumeSchedule: 'setzte einen Zeitplan fort', triggerSchedule: 'führte einen Zeitplan aus', replayDeadLetter: 'stellte Unzustellbares erneut zu', discardDeadLetter: 'verwarf Unzustellbares', putRunType: 'änderte eine Art von Läufen', cancelRun: 'brach einen Lauf ab', runRetention: 'räumte alte Daten weg', 'retention.cancelInstance': 'brach eine liegen gebliebene Instanz ab', 'retention.expireTask': 'beendete eine liegen gebliebene Aufgabe', 'audit.export': 'exportierte alte Zeilen des Protokolls', receiveEvents: 'sandte Ereignisse', submitRun: 'reichte einen Lauf ein',
    },
  },
  keys: {
    sub: 'Programme und Personen, die diesen Server benutzen dürfen', create: 'Schlüssel erstellen', none: 'Kein Schlüssel', none_text: 'Dieser Server fragt niemanden, wer er ist, oder Personen melden sich mit ihrem eigenen Konto an.', subject: 'Für wen', roles: 'Rollen', note: 'Notiz', created: 'Erstellt', status: 'Status', revoke: 'Widerrufen', revoked: 'Widerrufen', expired: 'Abgelaufen', valid: 'Gültig', until: (x) => `Bis ${x}`, revoke_title: (x) => `Den Schlüssel von ${x} widerrufen?`,
    revoke_text: 'Jede Anfrage damit wird innerhalb von zwei Sekunden abgewiesen. Das lässt sich nicht zurücknehmen.', revoked_done: (x) => `Der Schlüssel von ${x} ist widerrufen.`, made: 'Hier ist der Schlüssel', kept_it: 'Ich habe ihn aufbewahrt', only_once: 'Er wird nur jetzt gezeigt. Später kann ihn niemand lesen, auch der Server nicht.', create_title: 'Einen Schlüssel erstellen', task_roles: 'Rollen in Aufgaben', prefixes: 'Arten von Läufen, die so beginnen', expires: 'Gültigkeit', expires_help: 'Zum Beispiel 90d. Leer: ohne Ende.',
    role_text: { viewer: 'liest alles', task_worker: 'beantwortet Aufgaben', starter: 'startet Instanzen, sendet Signale', worker: 'erledigt Läufe', operator: 'versucht erneut, bricht ab, bearbeitet', deployer: 'spielt Definitionen ein', admin: 'alles' },
  },
  system: {
    you: 'Sie', user: 'Name', roles: 'Rollen', auth: 'Angemeldet', auths: { none: 'auf diesem Server nicht nötig', session: 'in diesem Browser, bis Sie sich abmelden', bearer: 'durch den Proxy vor diesem Server' }, may: 'Darf', here: 'Dieser Browser', theme: 'Farbschema', themes: { system: 'System', light: 'Hell', dark: 'Dunkel' }, language: 'Sprache', zone: 'Zeiten', zones: { local: 'Ortszeit' }, letters: 'Befehle mit einzelnen Buchstaben', on: 'An', off: 'Aus',
    server: 'Server', version: 'Version', node: 'Knoten', time: 'Seine Zeit', memory: 'Speicher', descriptors: 'Offene Dateien', connections: 'Verbindungen', requests_waiting: 'Wartende Anfragen', work: 'Arbeit', metrics: 'Alle Messwerte', suspended: 'Angehaltene Instanzen', failed: 'Gescheiterte Instanzen', tasks: 'Offene Aufgaben', ready: 'Läufe ohne Worker', ready_age: 'Der älteste davon', messages: 'Wartende Nachrichten', timers_late: 'Verspätete Zeitgeber', outbox: 'Zu veröffentlichende Ereignisse', dead: 'Unzustellbares',
    retention: 'Aufbewahrung', retention_text: 'Der Server entfernt alte Daten nach seinen Einstellungen keep.*. Sie können jetzt mehr entfernen.', retention_run: 'Jetzt aufräumen', retention_title: 'Alte Daten jetzt entfernen?', retention_ask: 'Was Sie hier wählen, ist dann endgültig weg.', retention_what: 'Was entfernt wird', retention_age: 'Älter als', retention_kinds: { completed: 'abgeschlossene Instanzen', failed: 'fehlgeschlagene Instanzen', cancelled: 'abgebrochene Instanzen', runs: 'beendete Läufe ohne Instanz', deleted_runs: 'gelöschte Läufe', run_events: 'Ereignisse von Läufen', dead_letters: 'Unzustellbares ohne offene Instanz', outbox: 'veröffentlichte Ereignisse', keys: 'Idempotenzschlüssel', audit: 'Protokollzeilen (vorher exportiert)', stale_tasks: 'liegen gebliebene Aufgaben (sie enden)', stale_instances: 'liegen gebliebene Instanzen (sie werden abgebrochen)' }, retention_done: 'Alte Daten sind entfernt.',
  },
  approve: {
    title: 'Eine Frage an Sie', loading: 'Einen Moment …', yes: 'Ja', no: 'Nein', approve: 'Zustimmen', decline: 'Ablehnen', send: 'Antwort senden', asks_approval: 'bittet um Ihre Zustimmung', asks: 'bittet um Ihre Antwort', you_are_asked: 'Ihre Antwort wird gebraucht', for_you: (x) => `für ${x}`,
    steps: 'Was geschieht', your_decision: 'Ihre Entscheidung', your_answer: 'Ihre Antwort', please_by: (x) => `bitte bis ${x} antworten`, kept: 'Ihre Antwort wird mit Ihrem Namen aufbewahrt.', fix: 'Bitte sehen Sie sich die markierten Felder an.', not_taken: (x) => `Ihre Antwort wurde nicht angenommen: ${x}.`,
    thanks: (x) => `Danke. Ihre Antwort: ${x}.`, thanks_text: (x) => `Ihre Antwort ist angekommen, und es geht mit der Anfrage von ${x} weiter. Sie können diese Seite schließen.`, answered: 'Das ist schon beantwortet', answered_text: (who, at) => `${who ? `${who} hat geantwortet` : 'Es wurde geantwortet'}, ${at}. Es ist nichts mehr zu tun.`,
    expired: 'Dieser Link ist abgelaufen', expired_text: 'Bitten Sie um einen neuen. Die Frage ist noch offen.', changed: 'Das hat sich geändert, seit der Link verschickt wurde', changed_text: 'Bitten Sie um einen neuen Link, damit Sie über den jetzigen Stand entscheiden.', closed: 'Diese Frage ist erledigt', closed_text: 'Ihre Antwort wird nicht mehr gebraucht.',
    unknown: 'Dieser Link funktioniert nicht', unknown_text: 'Vielleicht ist er abgeschnitten. Öffnen Sie ihn noch einmal aus der Nachricht, oder bitten Sie um einen neuen.', away: 'Keine Verbindung', away_text: 'Der Server ist gerade nicht zu erreichen. Es ist nichts verloren.', again: 'Noch einmal versuchen',
  },
  embed: { loading: 'Einen Moment …', expired: 'Dieser Teil der Seite braucht eine neue Anmeldung. Laden Sie die Seite neu.', away: 'Der Server ist nicht zu erreichen. Es wird weiter versucht.', nothing: 'Nichts wartet auf Sie.' },
  unknown: { title: 'Diese Seite gibt es nicht', text: 'Die Adresse ist vielleicht abgeschnitten, oder die Seite ist umgezogen.' },
};
