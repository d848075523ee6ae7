// Where the console lives: its scripts are in BASE/assets/.
const script = new URL(import.meta.url).pathname;
const cut = script.lastIndexOf('/assets/');
export const base_path = cut < 0 ? '' : script.slice(0, cut);
export const link = (path: string): string => base_path + path;
