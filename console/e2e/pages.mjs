// Every page with its address, for the tests that look at all of them.
export const pages = (ids) => [
  ['home', '/'], ['instances', '/instances'], ['instances, filtered', '/instances?q=status:suspended'], ['instances, nothing found', '/instances?q=status:failed+definition:hello'], ['instance, suspended', `/instances/${ids.suspended[0]}`],
  ['instance, task', `/instances/${ids.review[0]}`], ['instance, retrying', `/instances/${ids.retrying[0]}`], ['instance, done', `/instances/${ids.done}`], ['inbox', `/inbox/${ids.task}`], ['definitions', '/definitions'], ['definition', '/definitions/purchase.order'],
  ['start', '/start'], ['start form', '/start/expense.approval'], ['start form with choices', '/start/credit.review'], ['errors', '/errors'], ['alerts', '/alerts'], ['bulk actions', '/batches'], ['bulk action', `/batches/${ids.job}`], ['instances, retrying', '/instances?q=status:retrying'], ['schedules', '/schedules'], ['runs', '/runs'], ['dead letters', '/dead-letters'], ['events', '/events'], ['audit', '/audit'], ['keys', '/keys'], ['system', '/system'], ['unknown', '/nothing/here'],
];

export async function settled(page) {
  await page.waitForSelector('main h1, main h2');
  await page.waitForFunction(() => !document.querySelector('.skel'));
}
