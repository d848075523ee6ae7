// The ids of the list that was shown last, for "previous" and "next" on the page of an instance.
let ids: string[] = [];
export function keep_list(list: string[]): void {
  ids = list;
}
export function neighbours(id: string): { before?: string; after?: string } {
  const at = ids.indexOf(id);
  return at < 0 ? {} : { before: ids[at - 1], after: ids[at + 1] };
}
