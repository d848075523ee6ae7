// Made by build.mjs: the console's style for a shadow root, and its icons.
declare module 'embed:parts' {
  export const style: string;
  export const icons: Record<string, [tag: string, attributes: Record<string, string>][]>;
}
