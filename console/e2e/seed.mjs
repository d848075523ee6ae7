// Instances in every state, so that each page has something to show.
export const charge = (version, step) => `cairn: 1
name: purchase.order
version: ${version}
title: Purchase order
input: { type: object, required: [order], properties: { order: { type: string }, amount: { type: number } } }
reference: { key: = input.order }
state: { amount: '= input.?amount.orValue(100)', limit: 9007199254740993, price: 1.50 }
steps:
  - id: reserve
    title: Reserve stock
    call: { worker: { type: demo.echo.v1, payload: { order: = input.order } }, result: stock }
  - id: check
    title: Check the price
    set: { total: '= state.offer.price' }
${step}
output: { total: = state.total }
`;
const bank = `cairn: 1
name: bank.payment
version: 1.0.0
title: Bank payment
input: { type: object, required: [order] }
reference: { key: = input.order }
steps:
  - id: charge
    title: Charge card
    call:
      http: { method: GET, url: "https://bank.invalid/charge" }
      timeout: 5s
      retry: { attempts: 5, backoff: 40s, factor: 2, cap: 5m }
      result: answer
output: = state.answer
`;
const review = `cairn: 1
name: credit.review
version: 1.4.0
title: Credit review
input:
  type: object
  required: [applicationNo, customer, amount]
  properties:
    applicationNo: { type: string, title: Application, minLength: 1 }
    customer: { type: string }
    amount: { type: number, minimum: 1, maximum: 100000, description: In EUR }
    urgent: { type: boolean }
    start: { type: string, format: date }
    comment: { type: string }
reference: { key: = input.applicationNo, parts: { customer: = input.customer } }
state: { amount: = input.amount, customer: = input.customer }
steps:
  - id: score
    title: Ask the scoring service
    call: { worker: { type: demo.echo.v1, payload: { value: 640 } }, result: score }
  - id: decide
    title: Score 700 or more?
    if: state.score.value >= 700
    then:
      - set: { decision: approve }
        title: Approve at once
    else:
      - id: review
        title: Review application
        task:
          name: ReviewApplication
          title: = "Review " + ref.key
          roles: [underwriter]
          due: 6h
          payload: { amount: = state.amount, score: = state.score.value, customer: = state.customer }
          form:
            type: object
            required: [decision, rate]
            properties:
              decision:
                title: Your decision
                oneOf:
                  - { const: approve, title: Approve, description: Pay out as asked }
                  - { const: less, title: Approve less, description: Give another amount }
                  - { const: reject, title: Reject, description: Say why }
              rate: { type: number, title: Interest rate, minimum: 3.5, maximum: 9.9, x-ui: { unit: "% a year" } }
              until: { type: string, format: date, title: Offer is good until }
              comment: { type: string, title: Comment, description: The customer does not see it }
          remind: [1d]
          deadline: { after: 2d, steps: [ { set: { decision: expired }, title: Mark as expired } ] }
          on_complete:
            - set: { decision: = completion.decision }
              title: Record the decision
  - emit: { type: credit.decided, subject: = ref.key, data: { decision: = state.decision } }
    title: Announce decision
output: { decision: = state.decision }
`;

export async function seed(servers, { many = 12 } = {}) {
  const { call } = servers;
  const deploy = (text) => call('POST', '/v1/definitions', text, 'application/yaml');
  const start = async (definition, input) => (await call('POST', '/v1/instances', { definition, input })).id;
  await deploy(charge('2.0.4', '  - id: print\n    title: Print the letter\n    emit: { type: letter.printed, subject: = ref.key }'));
  await deploy(bank);
  await deploy(review);
  const ids = { suspended: [], review: [], retrying: [] };
  ids.suspended.push(await start('purchase.order', { order: 'PO-88197' }));
  await deploy(charge('2.1.0', '  - id: ship\n    title: Ship order\n    emit: { type: order.shipped, subject: = ref.key }'));
  for (let at = 0; at < many; at++) ids.suspended.push(await start('purchase.order', { order: `PO-${88200 + at}`, amount: 100 + at }));
  for (let at = 0; at < 3; at++) ids.retrying.push(await start('bank.payment', { order: `PAY-${71 + at}` }));
  for (const [at, customer] of ['Elena Marsh', 'Samir Haddad', 'Helvar AG', 'Jon Ferreira'].entries()) ids.review.push(await start('credit.review', { applicationNo: `L-${1047 + at}`, customer, amount: 48000 - at * 9000 }));
  ids.hello = await start('hello', { name: 'Ada' });
  ids.signal = await start('payment.wait', { order: 'O-1', amount: '49.90' });
  ids.ticket = await start('support.ticket', { ticket: 'T-5', customer: 'C-1', text: 'It is broken', urgent: true });
  ids.done = await start('expense.approval', { employee: 'ann', manager: 'bob', items: [{ what: 'Train', amount: '30.10' }] });
  ids.cancelled = await start('hello', { name: 'Bo' });
  await call('POST', `/v1/instances/${ids.cancelled}/cancel`, { reason: 'Withdrawn by the customer' });
  ids.held = await start('hello', { name: 'Cy' });
  await call('POST', `/v1/instances/${ids.held}/suspend`, { reason: 'Asked by legal' });
  for (let tries = 0; tries < 100; tries++) {
    const open = (await call('GET', '/v1/tasks?limit=200')).items.filter((task) => task.name === 'ReviewApplication');
    if (open.length >= ids.review.length) {
      ids.task = open.find((task) => task.reference.key === 'L-1047').id;
      await call('POST', `/v1/tasks/${ids.task}/comment`, { comment: 'Payslips are in the folder. She needs an answer this week.' });
      break;
    }
    await new Promise((go) => setTimeout(go, 100));
  }
  await call('PUT', '/v1/alerts/stopped', { name: 'Orders are stopped', filter: 'status:suspended definition:purchase.order', more_than: 5 });
  await call('PUT', '/v1/alerts/bank', { name: 'The bank does not answer', filter: 'status:retrying definition:bank.payment', more_than: 50, for: '10m' });
  const job = await call('POST', '/v1/bulk', { action: 'resume', instances: [ids.held, ids.done, ids.cancelled], reason: 'Legal has answered' });
  ids.job = job.id;
  return ids;
}
