// <cairn-diagram server="https://cairn.example" instance="ID" token="…"></cairn-diagram>
import { h, render } from 'preact';
import { drawing_of, read_svg, type Mark } from '../diagram/svg_reader';
import { words } from '../words';
import { Refused } from './client';
import { CairnElement } from './element';

const heading = 48;
const draw = (mark: Mark | string): unknown => (typeof mark === 'string' ? mark : h(mark.tag as 'g', { ...mark.attributes }, ...(mark.children.map(draw) as [])));

export class DiagramElement extends CairnElement {
  private shown = '';

  protected async load(signal: AbortSignal): Promise<void> {
    const instance = this.getAttribute('instance') ?? '';
    const text = await this.client.get_text(`/v1/instances/${encodeURIComponent(instance)}/diagram?format=svg&theme=tokens`, signal);
    if (text === this.shown) return;
    const svg = read_svg(text);
    if (!svg) throw new Error('the picture cannot be read');
    this.shown = text;
    // The page has its own heading, so the one of the picture is cut off.
    const [x = 0, y = 0, width = 100, height = 100] = (svg.attributes.viewBox ?? '').split(' ').map(Number);
    const box = [x, y + heading, width, height - heading];
    const label = this.getAttribute('label') ?? words.value.instance.diagram(instance);
    render(
      h('svg', { class: 'dia', viewBox: box.join(' '), role: 'img', 'aria-label': label, width: box[2], height: box[3] }, ...(drawing_of(svg).map(draw) as [])),
      this.place,
    );
    this.tell('cairn-drawn');
  }

  // The last picture stays while the server is away or the token is renewed.
  protected show_error(error: unknown): void {
    if (this.shown) return;
    const text = error === null ? '' : error instanceof Refused && error.status === 401 ? words.value.embed.expired : words.value.embed.away;
    render(h('p', { class: 'muted', role: 'status' }, text), this.place);
  }
}
