// What both elements share: a shadow root with the console's style, attributes, and events for the page.
import { icons, style } from 'embed:parts';
import { language } from '../settings';
import { client_of, Refused, type Client } from './client';

// One style sheet for all elements of a page. A constructed one needs no exception in the page's policy.
let sheet: CSSStyleSheet | undefined;
function sheet_of(): CSSStyleSheet {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
  }
  return sheet;
}

const svg_namespace = 'http://www.w3.org/2000/svg';
function sprite(): SVGElement {
  const root = document.createElementNS(svg_namespace, 'svg');
  root.setAttribute('class', 'sprite');
  root.setAttribute('aria-hidden', 'true');
  for (const [id, shapes] of Object.entries(icons)) {
    const symbol = document.createElementNS(svg_namespace, 'symbol');
    symbol.id = id;
    symbol.setAttribute('viewBox', '0 0 16 16');
    for (const [tag, attributes] of shapes) {
      const shape = document.createElementNS(svg_namespace, tag);
      for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
      symbol.append(shape);
    }
    root.append(symbol);
  }
  return root;
}

export abstract class CairnElement extends HTMLElement {
  static observedAttributes = ['server', 'token', 'instance', 'theme', 'lang', 'refresh'];
  protected readonly place: HTMLElement;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stop = new AbortController();

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    root.adoptedStyleSheets = [sheet_of()];
    this.place = document.createElement('div');
    this.place.className = 'embed';
    root.append(sprite(), this.place);
  }

  connectedCallback(): void {
    this.again();
  }
  disconnectedCallback(): void {
    clearTimeout(this.timer);
    this.stop.abort();
  }
  attributeChangedCallback(): void {
    if (this.isConnected) this.again();
  }

  // Where the server is; by default the one that this script comes from.
  protected get server(): string {
    return this.getAttribute('server') ?? new URL(import.meta.url).href.replace(/\/assets\/.*$/, '');
  }
  protected get client(): Client {
    return client_of(this.server, this.getAttribute('token') ?? '');
  }

  // Tells the page. `cairn-token` asks for a new token; the page sets the attribute.
  protected tell(name: string, detail: unknown = null): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
  protected failed(error: unknown): void {
    if (error instanceof DOMException && error.name === 'AbortError') return;
    if (error instanceof Refused && error.status === 401) this.tell('cairn-token');
    else this.tell('cairn-error', error instanceof Error ? error.message : String(error));
    this.show_error(error);
  }

  protected again(): void {
    clearTimeout(this.timer);
    this.stop.abort();
    this.stop = new AbortController();
    const wanted = this.getAttribute('lang') ?? document.documentElement.lang;
    if (wanted) language.value = wanted.startsWith('de') ? 'de' : 'en';
    const theme = this.getAttribute('theme');
    if (theme === 'light' || theme === 'dark') this.style.colorScheme = theme;
    if (!this.getAttribute('token')) return this.show_error(null);
    const mine = this.stop.signal;
    this.load(mine).catch((error: unknown) => !mine.aborted && this.failed(error)).finally(() => {
      if (!mine.aborted) this.timer = setTimeout(() => this.again(), this.every());
    });
  }
  private every(): number {
    const seconds = Number(this.getAttribute('refresh') ?? 5);
    return Math.max(1, Number.isFinite(seconds) ? seconds : 5) * 1000;
  }

  protected abstract load(signal: AbortSignal): Promise<void>;
  protected abstract show_error(error: unknown): void;
}
